# SPDX-License-Identifier: Apache-2.0
"""Pictures, films, sounds and databases: the same bytes under agent.ini."""
import hashlib
import re

from same import need, program_test, same


def digests(*names):
    def after(t):
        return {name: hashlib.sha256(t.read(f"p/{name}")).hexdigest() for name in names}
    return after


FFMPEG = """
set -e
q="ffmpeg -nostdin -hide_banner -loglevel error -bitexact -threads 2"
$q -f lavfi -i testsrc=size=320x240:rate=10:duration=2 -f lavfi -i sine=duration=2 -flags bitexact -c:v mpeg4 -c:a aac film.mp4
$q -i film.mp4 -vf scale=160:120 -flags bitexact small.avi
$q -i film.mp4 -vn -flags bitexact sound.wav
ffprobe -v error -show_entries stream=codec_name,width,height -of csv film.mp4 small.avi 2>&1 || ffprobe -v error -show_entries stream=codec_name,width -of csv film.mp4
$q -i small.avi -f framemd5 -
"""


@program_test()
def ffmpeg(t):
    need("ffmpeg", "ffprobe")
    same(t, "bash", "-c", FFMPEG, after=digests("film.mp4", "small.avi", "sound.wav"), stderr=False,
         denied=("set_mempolicy",))


MAGICK = """
set -e
c=convert-im6.q16
$c -size 200x100 gradient:red-blue -fill white -draw 'circle 100,50 100,20' a.png
$c a.png -resize 50% -rotate 30 -blur 0x2 b.jpg
$c a.png b.jpg -append +repage c.gif
identify-im6.q16 -format '%m %w %h\\n' a.png b.jpg c.gif
$c a.png rgb:- | sha256sum; $c b.jpg rgb:- | sha256sum
"""


@program_test()
def imagemagick(t):
    need("convert-im6.q16")
    same(t, "bash", "-c", MAGICK)


SQLITE = """
set -e
seq 1 20000 | sed 's/.*/&,name &/' > t.csv
sqlite3 x.db <<'SQL'
pragma journal_mode=wal;
create table t(a integer primary key, b text);
.mode csv
.import t.csv t
create index i on t(b);
select count(*), sum(a), max(b) from t;
create virtual table f using fts5(b); insert into f select b from t where a % 7 = 0;
select count(*) from f where f match 'name';
begin; delete from t where a > 100; rollback; vacuum; pragma integrity_check;
pragma mmap_size=100000000; select count(*) from t where b like '%99%';
SQL
for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db "insert into t(b) select b from t limit 500" & done; wait
sqlite3 x.db 'select count(*) from t' .dump | sha256sum; ls
"""


@program_test()
def sqlite(t):
    need("sqlite3")
    same(t, "bash", "-c", SQLITE, scrub=lambda text: re.sub(r"x\.db-\w+\n", "", text))

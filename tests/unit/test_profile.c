// SPDX-License-Identifier: Apache-2.0
/* What a file may say: one row a case, text in, error and line or dump out. */
#include "profile_fixture.h"

/* ---- what is refused ---- */

#define LONG_NAME "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"

static const struct bad {
	const char *text;
	int line;
	const char *error;
} bad_files[] = {
	/* lines */
	{"\xef\xbb\xbf[file]\n", 1, "byte order mark"},
	{"[file]\nread = /a\x01z\n", 2, "byte 0x01 at column 10: write it as ${0x01}"},
	{"[file]\nread = /a\rb\n", 2, "byte 0x0d"},
	{"[file]\nread = /a\r", 2, "byte 0x0d"},
	{"[file]\nread = /a\x7f\n", 2, "byte 0x7f"},
	{"[file\nread = /a\n", 1, "\"[file\" has no ]"},
	{"[file ; x]\n", 1, "is not a section"},
	{"[file] read = /a\n", 1, "\"read = /a\" after [file]"},
	{"[file];x\n", 1, "after [file]"},
	{"[" LONG_NAME "]\n", 1, "section name of 50 bytes, 49 is the most"},
	{"[]\n", 1, "[] is not a section"},
	{"[ file ]\n", 1, "[ file ] is not a section; did you mean [file]?"},
	{"[fiel]\n", 1, "[fiel] is not a section; did you mean [file]?"},
	{"[frobnicate]\n", 1, "[frobnicate] is not a section: see"},
	{"read = /a\n", 1, "read stands before the first [section]"},
	{"[file]\n\tread = /a\n", 2, "an indented line continues a key"},
	{"[file]\nread = /a\n[time]\n\t1s\n", 4, "an indented line continues a key"},
	{" [file]\n", 1, "an indented line continues a key"},
	{"[file]\nread\n", 2, "\"read\" is not \"key = value\""},
	{"[file]\nread: /a\n", 2, "is not \"key = value\""},
	{"[file]\n= /a\n", 2, "is not \"key = value\""},
	{"[file]\nread write = /a\n", 2, "is not \"key = value\""},
	{"[file]\nread = /a\\\n/b\n", 3, "does not continue it"},
	{"[file]\nread = /a\\\n\n", 3, "does not continue it"},
	{"[file]\nread = /a\\\n  ; b\n", 3, "does not continue it"},
	{"[file]\nread = /a\\\n", 2, "the last line ends in \\"},
	/* keys */
	{"[process]\nmemroy = 1G\n", 2, "[process] has no key memroy; did you mean memory?"},
	{"[process]\nwall = 1s\n", 2, "[process] has no key wall; it belongs in [time]"},
	{"[profile]\nextend = a\n", 2, "did you mean extends?"},
	{"[process]\nfrobnicate = 1\n", 2, "[process] has no key frobnicate: see"},
	{"[process]\nmemory = 1G\nmemory = 2G\n", 3,
	 "[process] memory: set twice, the first time on line 2"},
	{"[process]\nmemory = 1G\n  2G\n", 3, "takes one value, and line 3 goes on"},
	{"[file]\nread = /a\nread =\n", 3, "it must come before line 2"},
	/* sizes, times, numbers, words */
	{"[process]\nmemory = 80x\n", 2,
	 "[process] memory: \"80x\" is not a size (bytes, or K, M, G, T: 512M)"},
	{"[process]\nmemory = 99999999999999G\n", 2, "is more than any machine has"},
	{"[process]\nmemory = 99999999999999999999999\n", 2, "is more than any machine has"},
	{"[process]\nmemory = 8388608T\n", 2, "is more than any machine has"},
	{"[process]\nmemory = -1\n", 2, "is not a size"},
	{"[process]\nmemory = +1\n", 2, "is not a size"},
	{"[process]\nmemory = 1.5G\n", 2, "is not a size"},
	{"[process]\nmemory = 1GB\n", 2, "is not a size"},
	{"[process]\nmemory = 1 G\n", 2, "is not a size"},
	{"[process]\nmemory = G\n", 2, "is not a size"},
	{"[process]\nmemory = 0\n", 2, "would leave nothing to run with (empty: no limit)"},
	{"[file]\nscratch = 0\n", 2, "would leave nothing to run with"},
	{"[file]\nscratch =\n", 2, "[file] scratch: needs a value (64M when"},
	{"[file]\ngrowth = 0\n", 2, "would leave nothing"},
	{"[process]\nprocesses = 0\n", 2, "is out of range (1-4194304"},
	{"[process]\nprocesses = 4194305\n", 2, "is out of range"},
	{"[process]\nprocesses = 1.5\n", 2, "is not a whole number"},
	{"[process]\nprocesses = 0x10\n", 2, "is not a whole number"},
	{"[process]\nopen_files = 0\n", 2, "is out of range (1-1048576)"},
	{"[process]\nopen_files =\n", 2, "needs a value (1024"},
	{"[process]\nopen_files = 99999999999999999999\n", 2, "is out of range"},
	{"[process]\ncpus = 0\n", 2, "is out of range (0.01-4096"},
	{"[process]\ncpus = 0.0005\n", 2, "more than three decimals"},
	{"[process]\ncpus = two\n", 2, "is not a number"},
	{"[process]\ncpus = 1.\n", 2, "is not a number"},
	{"[process]\ncpus = .5\n", 2, "is not a number"},
	{"[process]\ncpus = 99999999999999999999\n", 2, "is out of range"},
	{"[time]\nwall = 0s\n", 2, "would leave nothing to run with"},
	{"[time]\nwall = 10\n", 2, "\"10\" has no unit"},
	{"[time]\nwall = -1s\n", 2, "is not a time"},
	{"[time]\nwall = s\n", 2, "is not a time"},
	{"[time]\nwall = 1m30s\n", 2, "is not a time"},
	{"[time]\nwall = 1.5ms\n", 2, "is finer than a millisecond"},
	{"[time]\nwall = 0.0001s\n", 2, "is finer than a millisecond"},
	{"[time]\nwall = 1.0000000000s\n", 2, "is finer than a millisecond"},
	{"[time]\nwall = 36501d\n", 2, "longer than a hundred years"},
	{"[time]\nwall = 99999999999999999999d\n", 2, "longer than a hundred years"},
	{"[time]\ngrace =\n", 2, "needs a value (2s"},
	{"[file]\nwrites = maybe\n", 2, "\"maybe\" is not one of keep|discard|review"},
	{"[file]\nwrites = kee\n", 2, "is not one of"},
	{"[file]\nwrites = keep|discard\n", 2, "is not one of"},
	{"[file]\nwrites =\n", 2, "needs a value (keep"},
	/* texts */
	{"[process]\nhostname = -a\n", 2, "\"-a\" is not a host name"},
	{"[process]\nhostname = a..b\n", 2, "is not a host name"},
	{"[process]\nhostname = a_b\n", 2, "is not a host name"},
	{"[process]\nhostname = a.\n", 2, "is not a host name"},
	{"[process]\nhostname = " LONG_NAME "." LONG_NAME "\n", 2, "is not a host name"},
	{"[process]\nhostname =\n", 2, "needs a value (sandbox"},
	{"[privilege]\nuser = root\n", 2, "\"root\" is root"},
	{"[privilege]\nuser = 0\n", 2, "\"0\" is root"},
	{"[privilege]\nuser = 000\n", 2, "is root"},
	{"[privilege]\nuser = 4294967295\n", 2, "is not a user"},
	{"[privilege]\nuser = a b\n", 2, "is not a user"},
	{"[privilege]\napparmor = a b\n", 2, "has a blank in it"},
	/* paths */
	{"[file]\nread = *\n", 2, "\"*\" would be every path"},
	{"[file]\nread = /a/*.txt\n", 2, "patterns are not expanded"},
	{"[file]\nread = /a?\n", 2, "patterns are not expanded"},
	{"[file]\nread = /[ab]\n", 2, "patterns are not expanded"},
	{"[file]\nread = etc\n", 2, "\"etc\" is not an absolute path: write /etc or ${cwd}/etc"},
	{"[file]\nread = ./etc\n", 2, "write /etc or ${cwd}/etc"},
	{"[file]\nread = ~/x\n", 2, "\"~/x\": write ${home}/x"},
	{"[file]\nread = $HOME/x\n", 2, "write ${home}/x"},
	{"[file]\nread = /a/../b\n", 2, "has \"..\" in it"},
	{"[file]\nread = /a/.\n", 2, "has \".\" in it"},
	{"[file]\nread = ${cwd}/${0x2e}.\n", 2, "has \"..\" in it"},
	{"[file]\nread = -\n", 2, "a path is missing"},
	{"[file]\nread = \"/a\"\n", 2, "write the path without quotes"},
	{"[file]\nread = /a, /b\n", 2, "one path a line"},
	{"[file]\nread = /a,/b\n", 2, "one path a line"},
	{"[file]\nhide = -/a -/b\n", 2, "one path a line"},
	{"[file]\nread = /a ${cwd}\n", 2, "one path a line"},
	{"[file]\nread = /a,\n", 2, "one path a line"},
	{"[file]\nread = /ok\n  also-relative\n", 3, "is not an absolute path"},
	{"[file]\ndevice = /etc/passwd\n", 2, "is not below /dev"},
	{"[file]\ndevice = /dev\n", 2, "is not below /dev"},
	{"[file]\nwrite = /\n", 2, "[file] write: \"/\" is the whole system"},
	{"[file]\nread = /usr\n       //\n", 3, "[file] read: \"/\" is the whole system"},
	{"[file]\nexec = -/\n", 2, "[file] exec: \"/\" is the whole system"},
	{"[file]\nhide = /\n", 2, "[file] hide: \"/\" is the whole system"},
	{"[file]\nread = /a\nwrite = /srv/x\n  /proc/self\n", 4, "\"/proc/self\" is the kernel's"},
	{"[file]\nwrite = /sys\n", 2, "is the kernel's"},
	{"[file]\nwrite = /dev/shm\n", 2, "is for devices"},
	/* variables */
	{"[file]\nread = ${pwd}/x\n", 2, "${pwd} is not a variable (${cwd}, ${home}"},
	{"[file]\nread = ${cwd/x\n", 2, "\"${\" without \"}\""},
	{"[file]\nread = /${0x00}\n", 2, "${0x00} cannot stand in a value"},
	{"[file]\nread = /${0xg0}\n", 2, "${0xg0} is not a variable"},
	{"[file]\nread = /${}\n", 2, "${} is not a variable"},
	/* tokens */
	{"[network]\nallow = *\n", 2, "\"*\" would allow every destination"},
	{"[network]\nallow = *:443\n", 2, "would allow every destination"},
	{"[network]\nallow = a.org:80a\n", 2,
	 "[network] allow: \"a.org:80a\" has no port after the last"},
	{"[network]\nallow = a.org:0\n", 2, "(1-65535, or LOW-HIGH)"},
	{"[network]\nallow = a.org:65536\n", 2, "(1-65535, or LOW-HIGH)"},
	{"[network]\nallow = a.org:080\n", 2, "(1-65535, or LOW-HIGH)"},
	{"[network]\nallow = a.org:\n", 2, "\"a.org:\" has no port"},
	{"[network]\nallow = a.org:*\n", 2, "has no port"},
	{"[network]\nallow = a.org\n", 2, "\"a.org\" has no port: write NAME:443"},
	{"[network]\nallow = [::1]\n", 2, "has no port"},
	{"[network]\nallow = ::1:443\n", 2, "is not an address in brackets"},
	{"[network]\nallow = [nonsense]:443\n", 2, "is not an address"},
	{"[network]\nallow = https://a.org/\n", 2, "is a URL"},
	{"[network]\nallow = 300.1.1.1:80\n", 2, "\"300.1.1.1:80\" is not an address"},
	{"[network]\nallow = 10.0.0.0/33:80\n", 2, "has no number of bits after the slash"},
	{"[network]\nallow = a.*.org:80\n", 2, "is not a name, *.name or address"},
	{"[network]\nallow = a.org:1 b.org:2\n", 2, "is not"},
	{"[network]\nallow = a.org:1,, b.org:2\n", 2, "nothing before the comma"},
	{"[network]\nallow = ,\n", 2, "nothing before the comma"},
	{"[network]\nallow = *.org:443\n", 2, "would allow all of a top-level domain"},
	{"[network]\nallow = a.org:1000-2000\n", 2, "more than 256"},
	{"[network]\nallow = a.org:100-300, b.org:1000-1200\n", 2, "ports are too many"},
	{"[network]\nallow = 127.0.0.1:80\n", 2, "write host:PORT"},
	{"[network]\ndeny = *\n", 2, "would deny every destination"},
	{"[network]\nlisten = 80, 81:80\n", 2, "is published twice"},
	{"[network]\nsni = yes\n", 2, "required|optional"},
	{"[network]\nresolve = a.org\n", 2, "is not name=address"},
	{"[network]\nresolve = a.org=b.org\n", 2, "has no address after ="},
	{"[network]\nlisten = http\n", 2, "\"http\" is not"},
	{"[environment]\nkeep = *\n", 2, "would pass every variable on"},
	{"[environment]\nkeep = A=1\n", 2, "has a value: that belongs in set"},
	{"[environment]\nkeep = *A\n", 2, "is not a variable's name"},
	{"[environment]\nkeep = A B\n", 2, "is not a variable's name"},
	{"[environment]\nkeep = A*B\n", 2, "is not a variable's name"},
	{"[environment]\nkeep = 1A\n", 2, "is not a variable's name"},
	{"[environment]\nset = A\n", 2, "is not NAME=VALUE"},
	{"[environment]\nset = =x\n", 2, "is not NAME=VALUE"},
	{"[environment]\nset = A=1\n  B C=2\n", 3, "is not NAME=VALUE"},
	{"[privilege]\ncapabilities = *\n", 2, "is not a capability"},
	{"[privilege]\ncapabilities = net_bind_servic\n", 2, "did you mean net_bind_service?"},
	{"[privilege]\nsyscalls = *\n", 2, "is not a system call or a set"},
	{"[privilege]\nsyscalls = !ptrace\n", 2, "write @default, !ptrace"},
};

START_TEST(refused)
{
	const struct bad *row = &bad_files[_i];
	struct profile untouched = {.name = "untouched"};

	profile = untouched;
	ck_assert_msg(load_text(row->text) == -1, "accepted: %s", row->text);
	assert_error(row->text, row->line, row->error);
	ck_assert_str_eq(err.file, in_top("t.ini"));
	ck_assert_str_eq(profile.name, "untouched");
}
END_TEST

START_TEST(refused_nul)
{
	static const char text[] = "[file]\nread = /a\0b\n";

	ck_assert_int_eq(load(put_bytes("t.ini", text, sizeof(text) - 1)), -1);
	assert_error("NUL", 2, "byte 0x00 at column 10: no value can hold it");
}
END_TEST

/* A comment can be as long as a value, and no line longer than the library's buffer. */
START_TEST(line_limit)
{
	char name[256];

	memset(name, 'x', sizeof(name));
	for (int len = 190; len < 210; len++) {
		const char *text =
			arena_printf(&arena, "[file]\nread = /%.*s\nhide = /y\n", len - 8, name);
		int rc = load_text(text);

		if (len <= PROFILE_LINE_BYTES) {
			ck_assert_msg(rc == 0, "%d bytes: %s", len, err.text);
			ck_assert_uint_eq(strlen(profile.file.read.items[0].path), (size_t)len - 7);
			ck_assert_str_eq(profile.file.hide.items[0].path, "/y");
		} else {
			ck_assert_int_eq(rc, -1);
			assert_error("long line", 2, "198 is the most");
		}
	}
	/* with \r\n, and without a newline at the end */
	ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\r\nread = /%.190s\r\n", name)), 0);
	ck_assert_uint_eq(strlen(profile.file.read.items[0].path), 191);
	ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\nread = /%.190s", name)), 0);
	ck_assert_uint_eq(strlen(profile.file.read.items[0].path), 191);
	ck_assert_int_eq(load_text(arena_printf(&arena, "; %.197s\n[file]\n", name)), -1);
	assert_error("long comment", 1, "198 is the most");
}
END_TEST

START_TEST(file_limit)
{
	size_t size = 1024 * 1024;
	char *text = arena_alloc(&arena, size + 1);

	memset(text, '\n', size + 1);
	ck_assert_int_eq(load(put_bytes("t.ini", text, size)), 0);
	ck_assert_int_eq(load(put_bytes("t.ini", text, size + 1)), -1);
	assert_error("large file", 0, "is larger than 1 MiB");
}
END_TEST

/* ---- what is accepted ---- */

static const struct good {
	const char *text, *section, *key, *dump;
} good_files[] = {
	{"", "process", "open_files", "1024"},
	{"", "privilege", "syscalls", "@default"},
	{"", "file", "read", ""},
	{"# c\n ; c\n\t\n[profile] ; c\ndescription = a  b ; c\n", "profile", "description",
	 "a  b"},
	{"[profile]\ndescription =\n", "profile", "description", ""},
	{"[profile]\ndescription = a;b # c\n", "profile", "description", "a;b # c"},
	{"[profile]\ndescription = ${user} ${uid}$ $x\n", "profile", "description", NULL},
	{"[profile]\ndescription = x${0x20}\n", "profile", "description", "x${0x20}"},
	{"[profile]\ndescription = a${0x5c}\n", "profile", "description", "a${0x5c}"},
	{"[profile]\ndescription = a\\b\n", "profile", "description", "a\\b"},
	{"[profile]\ndescription = a\\\n  b\\\n\tc\n", "profile", "description", "abc"},
	{"[profile]\ndescription =\n  later\n", "profile", "description", "later"},
	{"[profile]\ndescription = ${0x24}{cwd}\n", "profile", "description", "${0x24}{cwd}"},
	{"[file]\nread = /a\n  /b\nread = /c\n", "file", "read", "/a\n/b\n/c"},
	{"[file]\nread =\n  /a\n  ; no\n\n  -/b ; x\n", "file", "read", "/a\n-/b"},
	{"[file]\nread = //a//b/\n  /c//\n", "file", "read", "/a/b\n/c"},
	{"[file]\nread = /a b/c\n", "file", "read", "/a b/c"},
	{"[file]\nread = /a${0x2c}/b\n", "file", "read", "/a${0x2c}/b"},
	{"[file]\nread = /...\n  /.a\n  /..b\n", "file", "read", "/...\n/.a\n/..b"},
	{"[file]\nread = /a\n  -/a\n  -/b\n  -/b\n", "file", "read", "/a\n-/b"},
	{"[file]\nread = ${home}/x\n", "file", "read", "/home/somebody/x"},
	{"[file]\nread = /run/${uid}\n", "file", "read", NULL},
	{"[file]\nread = /a\n[file]\nread = /b\n", "file", "read", "/a\n/b"},
	{"[file]\nwrite = /home/somebody\n", "file", "write", "/home/somebody"},
	{"[file]\nread = \n", "file", "read", ""},
	{"[file]\nread =\t \n", "file", "read", ""},
	{"[file]\ndevice = -/dev/dri\n", "file", "device", "-/dev/dri"},
	{"[file]\nscratch = 1536K\n", "file", "scratch", "1536K"},
	{"[file]\nscratch = 1024K\n", "file", "scratch", "1M"},
	{"[file]\nscratch = 1025\n", "file", "scratch", "1025"},
	{"[file]\ngrowth =\n", "file", "growth", ""},
	{"[process]\nmemory = 8388607T\n", "process", "memory", "8388607T"},
	{"[process]\nmemory = 9223372036854775807\n", "process", "memory", "9223372036854775807"},
	{"[process]\ncpus = 1.50\n", "process", "cpus", "1.5"},
	{"[process]\ncpus = 0.05\n", "process", "cpus", "0.05"},
	{"[process]\ncpus = 16\n", "process", "cpus", "16"},
	{"[process]\nhostname = a-1.b\n", "process", "hostname", "a-1.b"},
	{"[time]\nwall = 90s\n", "time", "wall", "90s"},
	{"[time]\nwall = 600s\n", "time", "wall", "10m"},
	{"[time]\nwall = 1.5s\n", "time", "wall", "1500ms"},
	{"[time]\nwall = 0.5d\n", "time", "wall", "12h"},
	{"[time]\nwall = 36500d\n", "time", "wall", "36500d"},
	{"[time]\ngrace = 0s\n", "time", "grace", "0ms"},
	{"[audit]\ncapture = 0\n", "audit", "capture", "0"},
	{"[audit]\ndenials = full\n", "audit", "denials", "full"},
	{"[privilege]\nuser = 1000\n", "privilege", "user", "1000"},
	{"[privilege]\nsyscalls = @io, !ptrace\n", "privilege", "syscalls", "@io\n!ptrace"},
	{"[privilege]\nsyscalls =\n", "privilege", "syscalls", ""},
	{"[privilege]\ncapabilities = CAP_NET_BIND_SERVICE\n", "privilege", "capabilities",
	 "CAP_NET_BIND_SERVICE"},
	{"[network]\nallow = a.org:443, *.b.org:1,\n  [2001:db8::1]:22\n  10.0.0.0/8:80\n",
	 "network", "allow", "a.org:443\n*.b.org:1\n[2001:db8::1]:22\n10.0.0.0/8:80"},
	{"[network]\nresolve = a.org=::1, b=1.2.3.4\n", "network", "resolve",
	 "a.org=::1\nb=1.2.3.4"},
	{"[environment]\nkeep = LANG, LC_*\n", "environment", "keep", "LANG\nLC_*"},
	{"[environment]\nset = A=b, c ;d\n  B=x=y\n  A=2\n", "environment", "set", "A=2\nB=x=y"},
	{"[environment]\nset = A=b,c;d\n", "environment", "set", "A=b,c;d"},
	{"[environment]\nset = A=\n", "environment", "set", "A="},
	{"[audit]\nredact = --token, a b, x${0x2c}y\n", "audit", "redact",
	 "--token\na b\nx${0x2c}y"},
};

START_TEST(accepted)
{
	const struct good *row = &good_files[_i];

	load_well(put("t.ini", row->text));
	if (row->dump != NULL)
		ck_assert_str_eq(dumped(row->section, row->key), row->dump);
	assert_round_trip();
}
END_TEST

START_TEST(uid_variable)
{
	load_well(put("t.ini", "[profile]\ndescription = ${user} ${uid}$ $x ${0xe9}\n"));
	ck_assert_str_eq(profile.description,
			 arena_printf(&arena, "somebody %u$ $x \xe9", geteuid()));
}
END_TEST

START_TEST(unknown_facts)
{
	context.home = NULL;
	context.user = NULL;
	ck_assert_int_eq(load_text("[file]\nread = ${home}\n"), -1);
	assert_error("home", 2, "${home} is not known for this caller");
	ck_assert_int_eq(load_text("[file]\nread = /${user}\n"), -1);
	assert_error("user", 2, "${user} is not known for this caller");
	ck_assert_int_eq(load_text("[file]\nwrite = ${cwd}\n"), 0);
	context.cwd = NULL;
	ck_assert_int_eq(load_text("[file]\nwrite = ${cwd}\n"), -1);
	assert_error("cwd", 2, "the current folder is gone");
}
END_TEST

START_TEST(fields_and_origins)
{
	load_well(put("t.ini",
		      "[file]\nread = -/a\n  /b\nwrites = review\n[process]\n"
		      "memory = 2G\ncpus = 1.5\n[time]\nwall = 1.5s\n[audit]\nexecs = no\n"));
	ck_assert_str_eq(profile.name, "t");
	ck_assert_str_eq(profile.path, in_top("t.ini"));
	ck_assert_uint_eq(profile.file.read.count, 2);
	ck_assert(profile.file.read.items[0].optional);
	ck_assert(!profile.file.read.items[1].optional);
	ck_assert_int_eq(profile.file.read.items[0].line, 2);
	ck_assert_int_eq(profile.file.read.items[1].line, 3);
	ck_assert_str_eq(profile.file.read.items[1].file, in_top("t.ini"));
	ck_assert_int_eq(profile.file.writes, WRITES_REVIEW);
	ck_assert_uint_eq(profile.process.memory_bytes, 2ULL << 30);
	ck_assert_uint_eq(profile.process.cpus_milli, 1500);
	ck_assert_uint_eq(profile.time.wall_ms, 1500);
	ck_assert_uint_eq(profile.time.cpu_ms, 0);
	ck_assert_int_eq(profile.audit.execs, NO);
	ck_assert_str_eq(profile_origin(&arena, &profile, KEY_PROCESS_MEMORY), "t.ini:6");
	ck_assert_str_eq(profile_origin(&arena, &profile, KEY_TIME_CPU), "default");
	ck_assert_ptr_null(profile.origin[KEY_TIME_CPU].file);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, refused, 0, ROWS(bad_files));
	tcase_add_test(tcase, refused_nul);
	tcase_add_test(tcase, line_limit);
	tcase_add_test(tcase, file_limit);
	tcase_add_loop_test(tcase, accepted, 0, ROWS(good_files));
	tcase_add_test(tcase, uid_variable);
	tcase_add_test(tcase, unknown_facts);
	tcase_add_test(tcase, fields_and_origins);
}

int main(void)
{
	return run_suite("profile", add_tests);
}

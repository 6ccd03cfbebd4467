import { assertEquals } from "@std/assert";
import { countSyncs } from "./syncs.ts";

const TRACE = `10 openat(AT_FDCWD, "/data/O_SYNC", O_RDONLY|O_CLOEXEC) = 3
10 openat(AT_FDCWD, "/data/a", O_WRONLY|O_CREAT|O_DSYNC|O_CLOEXEC, 0777) = 4
11 open("/data/b", O_RDWR|O_SYNC) = 5
12 fdatasync(4 <unfinished ...>
11 fsync(5)                          = 0
12 <... fdatasync resumed>)          = 0
12 fdatasync(4)                      = 0
13 msync(0x7f00, 4096, MS_SYNC)      = 0
13 msync(0x7f00, 4096, MS_ASYNC)     = 0
13 sync_file_range(4, 0, 0, SYNC_FILE_RANGE_WRITE) = 0
13 syncfs(4)                         = 0
13 sync()                            = 0
11 +++ exited with 0 +++
`;

Deno.test("countSyncs() counts each call once, by name", () => {
  assertEquals(countSyncs(TRACE), {
    fsync: 1,
    fdatasync: 2,
    sync_file_range: 1,
    msync: 1,
    sync: 2,
    "open with O_DSYNC": 1,
    "open with O_SYNC": 1,
  });
});

Deno.test("countSyncs() finds nothing in an empty trace", () => {
  assertEquals(countSyncs(""), {});
});

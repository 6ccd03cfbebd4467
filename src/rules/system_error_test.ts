import { assertEquals } from "@std/assert";
import { failureReason } from "./system_error.ts";

const CASES: [message: string, reason: string][] = [
  ["No such file or directory (os error 2): readfile 'a b'", "No such file or directory"],
  ["No such file or directory (os error 2): open 'it's: a, \nfile'", "No such file or directory"],
  ["Permission denied (os error 13): mkdir '/root/x'", "Permission denied"],
  ["ENOENT: no such file or directory, statfs '/missing'", "No such file or directory"],
  ["Address already in use (os error 98)", "Address already in use"],
  ["file is not a database", "file is not a database"],
  [
    'Requires all access to "/proc/x", run again with the --allow-all flag',
    "/proc cannot hold files: choose another folder",
  ],
  [
    'Requires all access to "/sys/a/b", run again with the --allow-all flag',
    "/sys cannot hold files: choose another folder",
  ],
  [
    'Requires write access to "/srv/x", run again with the --allow-write flag',
    'kvdrive was started without permission to write "/srv/x"',
  ],
];

for (const [message, reason] of CASES) {
  Deno.test(`A system error is reported without details for programmers: ${reason}`, () => {
    assertEquals(failureReason(new Error(message)), reason);
  });
}

Deno.test("A thrown value that is no error is reported unchanged", () => {
  assertEquals(failureReason("broken"), "broken");
});

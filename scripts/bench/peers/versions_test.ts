import { assertEquals } from "@std/assert";
import { moduleVersionIn, versionIn } from "./versions.ts";

Deno.test("versionIn() finds the version in what servers print", () => {
  const printed = {
    "rclone v1.60.1-DEV\n- os/version: debian 12.11": "1.60.1-DEV",
    "nginx version: nginx/1.22.1\n": "1.22.1",
    "version 8000GB 3.97 linux amd64\n": "3.97",
    "minio version RELEASE.2025-09-07T16-13-09Z (commit-id=1)\n": "2025-09-07T16-13-09Z",
    "v2.6.2 h1:abc\n": "2.6.2",
    "kvdrive 0.1.0 (from source, deno 2.9.6)\n": "0.1.0",
    "minio version DEVELOPMENT.GOGET\nLicense: agpl-3.0.html": undefined,
    "pocketbase version (untracked)": undefined,
    "": undefined,
  };
  for (const [output, version] of Object.entries(printed)) {
    assertEquals(versionIn(output), version);
  }
});

Deno.test("moduleVersionIn() finds the version of the main module alone", () => {
  const output =
    "bin/base: go1.26\n\tpath\texample.org/a/base\n\tmod\texample.org/a\tv0.36.8\th1:x=\n" +
    "\tdep\texample.org/b\tv1.0.0\th1:y=\n";
  assertEquals(moduleVersionIn(output), "0.36.8");
  assertEquals(moduleVersionIn("bin/base: not a Go executable"), undefined);
});

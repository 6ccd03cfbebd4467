import { assertEquals, assertThrows } from "@std/assert";
import { RepositoryError } from "../errors.ts";
import { openTarget } from "./open_target.ts";

const S3 = {
  endpoint: "https://s3.example.com",
  region: "us-east-1",
  accessKeyId: "id",
  secretAccessKey: "secret",
};

Deno.test("a target of S3 has a bucket, and a prefix", () => {
  for (
    const [target, place] of [
      ["s3://bucket", "s3://bucket"],
      ["s3://bucket/", "s3://bucket"],
      ["S3://b1/a/b/", "s3://b1/a/b"],
      ["s3://my_bucket/..a", "s3://my_bucket/..a"],
    ] as const
  ) assertEquals(openTarget({ target, s3: S3 }).place, place);
});

Deno.test("a target of S3 that addresses cannot have is refused", () => {
  for (const end of ["", "/", "/a", "..", "bucket/..", "bucket/a/../b", "bucket/./a", "a b/c"]) {
    const target = `s3://${end}`;
    assertThrows(() => openTarget({ target, s3: S3 }), RepositoryError, "is not valid");
  }
});

/**
 * boto3 with its default settings. The cases are in `python/boto3_cases.py`.
 *
 * @module
 */
import { assert } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { programTest, succeed } from "./support/programs.ts";
import { HOST_BUCKET } from "./support/site.ts";

const SCRIPT = fromFileUrl(new URL("./python/boto3_cases.py", import.meta.url));

programTest("python3", async (site, step) => {
  const env = { HOST_BUCKET, KVDRIVE_S3_PEER: Deno.env.get("KVDRIVE_S3_PEER") ?? "" };
  const output = await succeed(site, ["python3", SCRIPT], { env });
  const results: { case: string; error: string | null }[] = output.trimEnd().split("\n")
    .map((line) => JSON.parse(line));
  assert(results.length > 10);
  for (const { case: sentence, error } of results) {
    await step(sentence, () => {
      if (error !== null) throw new Error(error);
      return Promise.resolve();
    });
  }
});

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ADMIN_TOKEN, administrator } from "../support/admin.ts";
import { EXECUTABLE } from "../support/command.ts";
import { Deployed, Platform } from "../support/deploy/deploy.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { makeS3Key, S3_DOMAIN, S3_SECRET } from "../support/s3/s3_server.ts";
import { signedRequest } from "../support/s3/signed.ts";

const SETTINGS = {
  KVDRIVE_PROJECT_KEY: PROJECT_KEY,
  KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN,
  KVDRIVE_S3_DOMAIN: S3_DOMAIN,
  ...S3_SECRET,
};

// The platform has the sources, and no executable.
Deno.test({
  name: "On Deno Deploy the domain of S3 leads to S3 alone, and names arrive as they were sent.",
  ignore: EXECUTABLE !== undefined,
  fn: async () => {
    await using platform = new Platform({ isAttached: true });
    await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env });
    using client = await RawClient.connect(Number(new URL(deployed.origin).port));
    for (const host of [S3_DOMAIN, `photos.${S3_DOMAIN}`]) {
      await client.send(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const answer = await client.readAnswer();
      assertEquals([answer.status, answer.header("Content-Type")], [403, "application/xml"]);
    }
    await client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertEquals((await client.readAnswer()).body, '{"status":"ok"}');
    assertStringIncludes(deployed.text, `\nS3 is at https://${S3_DOMAIN}\n`);
    const status = await fetch(`${deployed.origin}/admin/v1/status`, { headers: administrator });
    assertEquals(
      (await status.json() as { s3: string }).s3,
      `http://${S3_DOMAIN}:${portOf(deployed)}`,
    );

    const key = await makeS3Key(deployed);
    const host = `photos.${S3_DOMAIN}`;
    await client.send(signedRequest(key, { method: "PUT", path: "/", host, body: "" }));
    assertEquals((await client.readAnswer()).status, 200);
    const path = "/a/../b//c%2Fd";
    await client.send(signedRequest(key, { method: "PUT", path, host, body: "content" }));
    assertEquals((await client.readAnswer()).status, 200);
    await client.send(signedRequest(key, { method: "HEAD", path, host }));
    const found = await client.readAnswer("HEAD");
    assertEquals([found.status, found.header("Content-Length")], [200, "7"]);
    const files = await fetch(`${deployed.origin}/v1/${PROJECT_ID}/photos/files`, {
      headers: { "X-Api-Key": PROJECT_KEY },
    });
    assertEquals(await files.json(), { names: ["a/../b//c/d"] });
  },
});

function portOf({ origin }: { origin: string }): string {
  return new URL(origin).port;
}

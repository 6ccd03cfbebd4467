import { assert, assertEquals } from "@std/assert";
import { MIB } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { Nginx } from "../support/gate/nginx.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { TestServer } from "../support/server.ts";
import { makeS3Key, S3_DOMAIN } from "../support/s3/s3_server.ts";
import { presignedTarget, signedRequest } from "../support/s3/signed.ts";
import { ADMINISTERED } from "../support/admin.ts";

const PAGE = new URL("../../docs/reverse-proxy.md", import.meta.url);

/** The configuration of docs/reverse-proxy.md with what the page says on S3, in front of a server. */
async function documentedConfiguration({ origin }: TestServer): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const [, block = ""] = /```nginx\n(upstream kvdrive [^]*?)```/.exec(page) ?? [];
  const [, names = ""] = /`(server_name [^`]*s3\.example\.com;)`/.exec(page) ?? [];
  const [, size = ""] = /`(client_max_body_size 0;)`/.exec(page) ?? [];
  assert(block !== "" && names !== "" && size !== "", "docs/reverse-proxy.md says something else");
  return block.replace("127.0.0.1:8000", new URL(origin).host)
    .replace(/server_name .*;/, names)
    .replace(/client_max_body_size .*;/, size);
}

Deno.test("nginx with the documented configuration passes requests of S3 on as they were signed.", async () => {
  await using server = await TestServer.start({
    ...ADMINISTERED,
    args: ["--s3-domain", S3_DOMAIN],
  });
  const key = await makeS3Key(server);
  await using nginx = await Nginx.start(await documentedConfiguration(server));
  const hosts = [[S3_DOMAIN, "/bucket"], [`bucket.${S3_DOMAIN}:443`, ""]] as const;
  for (const [host, prefix] of hosts) {
    using client = RawClient.over(await nginx.connect());
    const ask = async (method: string, path: string, body?: string) => {
      const content = body === undefined ? {} : { body };
      await client.send(signedRequest(key, { method, path: prefix + path, host, ...content }));
      const answer = await client.readAnswer(method);
      assertEquals(answer.status, 200, answer.body);
      return answer;
    };
    if (prefix !== "") await ask("PUT", "", "");
    for (const path of ["/a/../b", "/./c", "//d//e", "/f%2Fg", "/i%20j+k"]) {
      await ask("PUT", path, `${host} ${path}`);
      assertEquals((await ask("GET", path)).body, `${host} ${path}`);
      const target = presignedTarget(key, { method: "GET", path: prefix + path, host });
      await client.send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      assertEquals((await client.readAnswer()).body, `${host} ${path}`);
    }
    await ask("PUT", "/large", "x".repeat(12 * MIB));
    assertEquals((await ask("HEAD", "/large")).header("Content-Length"), String(12 * MIB));
  }
  const names = await new Drive(server, "bucket").names();
  assertEquals(names, ["./c", "/d//e", "a/../b", "f/g", "i j+k", "large"]);
});

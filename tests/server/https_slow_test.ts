import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { type Refusal, TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer, withAuthority } from "../support/acme/https_server.ts";
import { MIB } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";

const NAME = "files.example.com";
const SECOND = 1000;

const env = { KVDRIVE_PROJECT_KEY: PROJECT_KEY };
const OWNER = `X-Api-Key: ${PROJECT_KEY}\r\n`;

Deno.test("A certificate is renewed at two thirds of its lifetime, and running transfers go on", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  authority.behaviour.lifetime = 15 * SECOND;
  const data = folder.at("data");
  await using server = await HttpsServer.start({ authority, domains: [NAME], data, env });
  const { serial } = await server.untilCertificate(NAME);
  const size = 8 * MIB;
  await upload(server, authority.issuer.pem, size);
  const download = await slowDownload(server, authority.issuer.pem);
  const second = await server.untilCertificate(NAME, serial);
  const third = await server.untilCertificate(NAME, second.serial);
  assert(third.serial !== second.serial);
  // The first bytes were taken before two renewals, the others after them.
  assertEquals(await download.rest(), size);
  const times = authority.issued.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries()) {
    const share = (at - (times[index] ?? 0)) / authority.behaviour.lifetime;
    assert(share > 0.6 && share < 0.85, `Renewed after ${share} of the lifetime`);
  }
});

async function upload(server: HttpsServer, trusted: string, size: number): Promise<void> {
  const plain = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  using connection = await Deno.startTls(plain, { hostname: NAME, caCerts: [trusted] });
  const path = `/v1/${PROJECT_ID}/drive/files?name=large`;
  const head = `POST ${path} HTTP/1.1\r\nHost: ${NAME}\r\n${OWNER}Content-Length: ${size}\r\n\r\n`;
  await new Blob([head, new Uint8Array(size)]).stream().pipeTo(
    new WritableStream({
      async write(bytes) {
        for (let sent = 0; sent < bytes.length;) {
          sent += await connection.write(bytes.subarray(sent));
        }
      },
    }),
  );
  const buffer = new Uint8Array(1024);
  const count = await connection.read(buffer);
  assertMatch(new TextDecoder().decode(buffer.subarray(0, count ?? 0)), /^HTTP\/1\.1 201 /);
}

/** Begins a download, and takes its rest later. */
async function slowDownload(
  server: HttpsServer,
  trusted: string,
): Promise<{ rest: () => Promise<number> }> {
  const plain = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const connection = await Deno.startTls(plain, { hostname: NAME, caCerts: [trusted] });
  const path = `/v1/${PROJECT_ID}/drive/files/download?name=large`;
  const head = `GET ${path} HTTP/1.1\r\nHost: ${NAME}\r\n${OWNER}Connection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const buffer = new Uint8Array(4096);
  const first = await connection.read(buffer) ?? 0;
  const text = new TextDecoder("latin1").decode(buffer.subarray(0, first));
  assertMatch(text, /^HTTP\/1\.1 200 /);
  let received = first - text.indexOf("\r\n\r\n") - 4;
  return {
    rest: async () => {
      for await (const piece of connection.readable) received += piece.length;
      return received;
    },
  };
}

Deno.test("While the authority is away the server runs on, and retries with longer and longer pauses", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  authority.behaviour.lifetime = 20 * SECOND;
  await using server = await HttpsServer.start({
    authority,
    domains: [NAME],
    data: folder.at("data"),
  });
  const { serial } = await server.untilCertificate(NAME);
  await authority.leave();
  const failures = () => server.text.match(/Cannot obtain.*Next attempt in \d+ s/g) ?? [];
  await server.until(() => failures().length === 3, "three failed attempts", 60 * SECOND);
  const waits = failures().map((line) => Number(/in (\d+) s/.exec(line)?.[1]));
  for (const [index, [least, most]] of [[4, 5], [8, 10], [16, 20]].entries()) {
    const wait = waits[index] ?? 0;
    assert(wait >= (least ?? 0) && wait <= (most ?? 0), `${waits}`);
  }
  assertMatch(failures()[0] ?? "", /cannot reach localhost:\d+: .*[Cc]onnection refused/);
  assertEquals((await server.certificate(NAME))?.serial, serial);
  authority.comeBack();
  await server.untilCertificate(NAME, serial);
});

Deno.test("An authority that answers 503 is an outage", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  authority.behaviour.isDown = true;
  await using server = await HttpsServer.start({
    authority,
    domains: [NAME],
    data: folder.at("data"),
  });
  await server.until(
    () => /localhost:\d+ answered 503\. Next attempt/.test(server.text),
    "a failure",
  );
  authority.behaviour.isDown = false;
  await server.untilCertificate(NAME);
});

Deno.test("A process killed in the middle of an order leaves nothing that keeps the next one from a certificate", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const reached = Promise.withResolvers<void>();
  authority.behaviour.onFinalize = async () => {
    reached.resolve();
    await delay(500);
  };
  const data = folder.at("data");
  {
    await using server = await HttpsServer.start({ authority, domains: [NAME], data });
    await reached.promise;
    await server.stop("SIGKILL");
  }
  authority.behaviour.onFinalize = () => Promise.resolve();
  await using server = await HttpsServer.start({ authority, domains: [NAME], data });
  await server.untilCertificate(NAME);
  assertEquals(authority.accounts.length, 1);
});

Deno.test("Killed again and again, a server ends up with a certificate and one account", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const data = folder.at("data");
  for (let round = 0; round < 10; round++) {
    await using server = await HttpsServer.start({ authority, domains: [NAME], data });
    await delay(Math.random() * 600);
    await server.stop("SIGKILL");
  }
  await using server = await HttpsServer.start({ authority, domains: [NAME], data });
  await server.untilCertificate(NAME);
  assertEquals(authority.accounts.length, 1);
});

Deno.test("Two processes with one data folder order one certificate", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const ordered = Promise.withResolvers<void>();
  const hasSecond = Promise.withResolvers<void>();
  authority.behaviour.onFinalize = async () => {
    ordered.resolve();
    await hasSecond.promise;
    await delay(2000);
  };
  const data = folder.at("data");
  await using first = await HttpsServer.start({ authority, domains: [NAME], data });
  await ordered.promise;
  await using second = await HttpsServer.start({ authority, domains: [NAME], data });
  hasSecond.resolve();
  const { serial } = await first.untilCertificate(NAME);
  assertEquals((await second.untilCertificate(NAME)).serial, serial);
  assertEquals(authority.orders.length, 1);
});

const limited = (retryAfter: string): Refusal => ({ status: 429, type: "rateLimited", retryAfter });

for (
  const [form, retryAfter] of [
    ["seconds", () => "7"],
    ["a date", () => new Date(Date.now() + 7000).toUTCString()],
  ] as const
) {
  Deno.test(`A rate limit with ${form} is respected, also by a restart`, async () => {
    await withAuthority(async (authority, start) => {
      const made = performance.now();
      authority.behaviour.refusals.set("*", limited(retryAfter()));
      {
        await using server = await start();
        await server.until(() => /rateLimited/.test(server.text), "the refusal");
      }
      authority.behaviour.refusals.clear();
      await using server = await start();
      await server.untilCertificate(NAME);
      const [first, second] = authority.orders;
      assert(first !== undefined && second !== undefined);
      // A date has whole seconds.
      const earliest = form === "seconds" ? first.at + 7000 : made + 6000;
      assert(second.at > earliest, `${second.at - earliest} ms`);
      assertEquals(authority.orders.length, 2);
    });
  });
}

Deno.test("The authority can make a renewal earlier", async () => {
  await withAuthority(async (authority, start) => {
    authority.behaviour.lifetime = 60_000;
    authority.behaviour.renewal = [3000, 5000];
    await using server = await start();
    const { serial } = await server.untilCertificate(NAME);
    await server.untilCertificate(NAME, serial, 40_000);
    const [first, second] = authority.issued;
    assert(first !== undefined && second !== undefined);
    assert(second.at - first.at >= 2500 && second.at - first.at < 30_000);
    assertMatch(second.replaces ?? "", /^[\w-]+\.[\w-]+$/);
  });
});

Deno.test("The authority cannot make a renewal later", async () => {
  await withAuthority(async (authority, start) => {
    authority.behaviour.lifetime = 18_000;
    authority.behaviour.renewal = [3_600_000, 7_200_000];
    await using server = await start();
    const { serial } = await server.untilCertificate(NAME);
    await server.untilCertificate(NAME, serial, 40_000);
    const [first, second] = authority.issued;
    assert(first !== undefined && second !== undefined);
    assert(
      second.at - first.at >= 10_000 && second.at - first.at < 18_000,
      `${second.at - first.at} ms`,
    );
  });
});

Deno.test("An account that the authority has forgotten is made again", async () => {
  await withAuthority(async (authority, start) => {
    authority.behaviour.lifetime = 6000;
    await using server = await start();
    const { serial } = await server.untilCertificate(NAME);
    authority.accounts.length = 0;
    await server.untilCertificate(NAME, serial, 60_000);
  });
});

import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer } from "../support/acme/https_server.ts";
import { MIB } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { FakeClock, HOUR } from "./support/clock.ts";
import { fillDisk, SmallDisk } from "./support/disk.ts";

const NAME = "files.example.com";
const YEAR = 365 * 24 * HOUR;

Deno.test("A clock that is a year ahead makes one order more, not one after the other", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  await using clock = await FakeClock.make();
  await clock.set(YEAR);
  const data = folder.at("data");
  // The authority's own certificate is valid at that time as well: its check is not what this is about.
  const start = () => HttpsServer.start({ authority, domains: [NAME], data, env: clock.env });
  await authority.useCertificateFor(2 * YEAR);
  {
    await using server = await start();
    await server.untilCertificate(NAME);
    await server.until(
      () => /clock of this machine seems to be wrong/.test(server.text),
      "a warning",
    );
    await delay(5000);
    assertEquals(authority.orders.length, 1);
  }
  await using server = await start();
  await server.untilCertificate(NAME);
  await delay(3000);
  assertEquals(authority.orders.length, 1);
});

Deno.test("A clock that is set back does not put a renewal off", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  await using clock = await FakeClock.make();
  await authority.useCertificateFor(2 * YEAR);
  authority.behaviour.lifetime = 15_000;
  const data = folder.at("data");
  await using server = await HttpsServer.start({
    authority,
    domains: [NAME],
    data,
    env: clock.env,
  });
  const { serial } = await server.untilCertificate(NAME);
  await clock.set(-YEAR / 2);
  await server.untilCertificate(NAME, serial, 60_000);
});

Deno.test("On a full disk a certificate is used at once, and stored when there is room", async () => {
  await using disk = await SmallDisk.mount(64 * MIB);
  if (disk === undefined) return;
  await using authority = await TestAuthority.start();
  authority.behaviour.lifetime = 30_000;
  const data = `${disk.path}/data`;
  const env = { KVDRIVE_DISK_RESERVE: "1MiB" };
  let serial: string;
  {
    await using server = await HttpsServer.start({ authority, domains: [NAME], data, env });
    const first = await server.untilCertificate(NAME);
    await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
    await fillDisk(`${disk.path}/fill`);
    ({ serial } = await server.untilCertificate(NAME, first.serial));
    await server.until(() => /Cannot store the certificate/.test(server.text), "a message");
    assertMatch(
      server.text,
      /Cannot store the certificate of .*No space left on device\. Next attempt in 60 s/,
    );
    const text = await Deno.readTextFile(`${data}/tls/${NAME}.pem`);
    assert(text.includes("END CERTIFICATE"), "The stored certificate was damaged");
    await Deno.remove(`${disk.path}/fill`);
    await server.untilCertificate(NAME, serial);
  }
  const orders = authority.orders.length;
  authority.behaviour.lifetime = HOUR;
  await using server = await HttpsServer.start({ authority, domains: [NAME], data, env });
  await server.untilCertificate(NAME);
  assert(authority.orders.length <= orders + 1);
});

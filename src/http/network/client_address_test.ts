import { assertEquals } from "@std/assert";
import {
  clientAddress,
  connectionNetwork,
  networkOf,
  parseAddress,
  TrustedProxies,
} from "./client_address.ts";

const peer = (hostname: string): Deno.Addr => ({ transport: "tcp", hostname, port: 1 });

function addressOf(from: string, forwardedFor: string | undefined, proxies?: string): string {
  const headers = new Headers(
    forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor },
  );
  const trusted = proxies === undefined ? undefined : TrustedProxies.parse(proxies);
  return clientAddress(peer(from), headers, trusted);
}

Deno.test("without a trusted proxy the address is the peer's", () => {
  assertEquals(addressOf("192.0.2.1", "10.0.0.1"), "192.0.2.1");
  assertEquals(addressOf("::ffff:192.0.2.1", "10.0.0.1"), "192.0.2.1");
  assertEquals(addressOf("192.0.2.1", "10.0.0.1", "127.0.0.1, 10.0.0.0/8"), "192.0.2.1");
  const headers = new Headers({ "x-forwarded-for": "10.0.0.1" });
  const unix: Deno.Addr = { transport: "unix", path: "/run/kvdrive" };
  assertEquals(clientAddress(unix, headers, TrustedProxies.parse("0.0.0.0/0")), "unix");
});

Deno.test("behind trusted proxies the address is the last one that is not trusted", () => {
  const cases: [string | undefined, string][] = [
    [undefined, "127.0.0.1"],
    ["", "127.0.0.1"],
    ["192.0.2.9", "192.0.2.9"],
    ["198.51.100.1, 192.0.2.9", "192.0.2.9"],
    ["198.51.100.1, 192.0.2.9, 10.1.1.1,10.2.2.2", "192.0.2.9"],
    ["10.1.1.1, 10.2.2.2", "10.1.1.1"],
    ["192.0.2.9:4711", "192.0.2.9"],
    ["[2001:db8::1]:4711", "2001:db8:0:0:0:0:0:1"],
    ["2001:DB8::1", "2001:db8:0:0:0:0:0:1"],
    ["::ffff:192.0.2.9", "192.0.2.9"],
    ["192.0.2.9, unknown, 10.1.1.1", "10.1.1.1"],
    ["192.0.2.9, <script>", "127.0.0.1"],
  ];
  for (const [header, expected] of cases) {
    assertEquals(addressOf("127.0.0.1", header, "127.0.0.1,10.0.0.0/8"), expected, header);
  }
});

Deno.test("trusted networks may be IPv4, IPv6 or a single address", () => {
  const trusts = (networks: string, address: string) =>
    TrustedProxies.parse(networks)?.has(parseAddress(address) ?? "");
  assertEquals(trusts("10.0.0.0/8", "10.255.255.255"), true);
  assertEquals(trusts("10.0.0.0/8", "11.0.0.0"), false);
  assertEquals(trusts("10.0.0.0/8", "::ffff:10.0.0.1"), true);
  assertEquals(trusts("fd00::/8 , ::1", "fdab::1"), true);
  assertEquals(trusts("fd00::/8 , ::1", "::1"), true);
  assertEquals(trusts("fd00::/8 , ::1", "::2"), false);
  assertEquals(trusts("0.0.0.0/0", "203.0.113.1"), true);
});

Deno.test("invalid addresses and networks are rejected", () => {
  const texts = [
    "",
    "localhost",
    "10.0.0.0/33",
    "10.0.0/8",
    "::/129",
    "10.0.0.1,",
    "a",
    "1.2.3.4/",
  ];
  for (const text of [...texts, "10.0.0.1/-1", "[::1]", "10.0.0.1:80", "fe80::1%eth0"]) {
    assertEquals(TrustedProxies.parse(text), undefined, text);
  }
});

Deno.test("an address has one normal form, and a network of the given prefix", () => {
  assertEquals(parseAddress(" fe80::1%eth0 "), "fe80:0:0:0:0:0:0:1");
  assertEquals(parseAddress("::"), "0:0:0:0:0:0:0:0");
  assertEquals(parseAddress("1:2:3:4:5:6:7:8"), "1:2:3:4:5:6:7:8");
  assertEquals(parseAddress("::ffff:1.2.3.4"), "1.2.3.4");
  assertEquals(
    [" ", "1.2.3", "1.2.3.4.5", "[::1", "::g"].map(parseAddress),
    Array(5).fill(undefined),
  );
  assertEquals(networkOf("1:2:3:4:5:6:7:8", 64), "1:2:3:4/64");
  assertEquals([networkOf("1.2.3.4", 24), networkOf("unix", 24)], ["1.2.3/24", "unix"]);
});

Deno.test("connections are counted by network, except those of this machine and trusted proxies", () => {
  const trusted = TrustedProxies.parse("10.1.0.0/16, 2001:db8:1::/48");
  const cases: [string, string | undefined][] = [
    ["192.0.2.7", "192.0.2/24"],
    ["::ffff:192.0.2.200", "192.0.2/24"],
    ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1/64"],
    ["127.0.0.1", undefined],
    ["127.9.9.9", undefined],
    ["::1", undefined],
    ["::ffff:127.0.0.1", undefined],
    ["10.1.2.3", undefined],
    ["10.2.2.3", "10.2.2/24"],
    ["2001:db8:1::5", undefined],
  ];
  for (const [address, network] of cases) {
    assertEquals(connectionNetwork(address, trusted), network, address);
  }
  assertEquals(connectionNetwork("10.1.2.3", undefined), "10.1.2/24");
});

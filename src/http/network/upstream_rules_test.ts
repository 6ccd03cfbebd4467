import { assertEquals } from "@std/assert";
import { AllowedUpstreams, UpstreamRules } from "./upstream_rules.ts";

const OWN = new Set([8000, 8001]);

function rules(allowed?: string): UpstreamRules {
  const list = allowed === undefined ? AllowedUpstreams.none : AllowedUpstreams.parse(allowed);
  if (list === undefined) throw new TypeError(allowed);
  return new UpstreamRules(list, OWN);
}

const LINK_LOCAL = [
  "http://169.254.169.254",
  "http://169.254.0.1:8080",
  "http://[fe80::1]:3000",
  "http://[febf::1]",
  "http://[::ffff:169.254.169.254]",
  "http://[64:ff9b::169.254.169.254]",
  "http://[64:ff9b::100.100.100.200]",
  "http://[64:ff9b:1::169.254.169.254]",
  "http://[64:ff9b:1:a9fe:00a9:fe00::]",
  "http://[64:ff9b:1:00a9:fe:a9fe::]",
  "http://[64:ff9b:1:1:a9:fea9:fe00::]",
  "http://[2002:a9fe:a9fe::1]",
  "http://[::169.254.169.254]",
  "http://2852039166/",
  "http://0xa9.0xfe.0xa9.0xfe",
  "http://[fd00:ec2::254]",
  "http://100.100.100.200",
  "http://metadata.google.internal",
  "http://METADATA.google.internal.:80",
  "http://metadata",
  "http://instance-data.ec2.internal",
];

const OWN_PORTS = [
  "http://127.0.0.1:8000",
  "http://127.9.9.9:8001",
  "http://localhost:8000",
  "http://LocalHost.:8000",
  "http://x.localhost:8000",
  "http://[::1]:8000",
  "http://[::ffff:127.0.0.1]:8000",
  "http://[::127.0.0.1]:8000",
  "http://[64:ff9b::127.0.0.1]:8000",
  "http://[64:ff9b:1::7f00:1]:8000",
  "http://[2002:7f00:1::]:8001",
  "http://0.0.0.0:8000",
  "http://[::]:8000",
  "http://127.1:8000",
  "https://2130706433:8001",
];

Deno.test("link-local addresses, metadata services and own ports are refused in every notation", () => {
  for (const upstream of [...LINK_LOCAL, ...OWN_PORTS]) {
    assertEquals(typeof rules().problemOf(upstream), "string", upstream);
  }
  const fine = [
    "http://127.0.0.1:3000",
    "http://10.0.0.5:8000",
    "http://metadata.example.com",
    "http://[fec0::1]",
    "http://[64:ff9b::10.0.0.5]:8000",
    "http://[64:ff9b:1::10.0.0.5]",
    "http://[2002:a00:5::1]",
    "http://[::10.0.0.5]",
    "http://[2001:db8::a9fe:a9fe]",
  ];
  for (const upstream of fine) assertEquals(rules().problemOf(upstream), undefined, upstream);
});

Deno.test("upstreams that are allowed by name, address or network are not refused", () => {
  const cases: [string, string, boolean][] = [
    ["169.254.169.254", "http://169.254.169.254:1", true],
    ["169.254.169.254:80", "http://169.254.169.254", true],
    ["169.254.169.254:81", "http://169.254.169.254", false],
    ["169.254.0.0/16", "http://169.254.1.2", true],
    ["169.254.0.0/24", "http://169.254.1.2", false],
    ["10.0.0.1, fe80::/10", "http://[fe80::2]:1", true],
    ["[fe80::2]:5", "http://[fe80::2]:5", true],
    ["fe80::2", "http://[fe80::2]:5", true],
    ["fe80::3", "http://[fe80::2]:5", false],
    ["64:ff9b::/96", "http://[64:ff9b::169.254.169.254]", true],
    ["169.254.169.254", "http://[64:ff9b::169.254.169.254]", false],
    ["::1", "http://[::1]:8000", true],
    ["[::1]:8001", "http://[::1]:8000", false],
    ["[fe80::]/10:5", "http://[fe80::2]:5", true],
    ["[fe80::]/10:6", "http://[fe80::2]:5", false],
    ["[fe80::2]", "http://[fe80::2]:5", true],
    ["Metadata.Google.internal:80", "http://metadata.google.internal", true],
    ["metadata.google.internal", "http://metadata.google.internal", true],
    ["localhost:8000", "http://localhost:8000", true],
    ["localhost:8000", "http://127.0.0.1:8000", false],
    ["127.0.0.0/8:8000", "http://127.0.0.1:8000", true],
  ];
  for (const [allowed, upstream, isAllowed] of cases) {
    assertEquals(rules(allowed).problemOf(upstream) === undefined, isAllowed, allowed + upstream);
  }
  for (
    const bad of [
      "",
      ",",
      "a/8",
      "1.2.3.4/33",
      "[a]",
      "a:0",
      "a:99999",
      "http://a",
      "::1/129",
      "1.2.3.4/",
      "1.2.3",
      "[1.2.3.4",
      "fe80::%1",
      "a b",
      "::1/8/8",
    ]
  ) {
    assertEquals(AllowedUpstreams.parse(bad), undefined, bad);
  }
});

Deno.test("a connection is checked by its addresses, not by its name", () => {
  const allows = (remote: string, local: string, port: number, allowed?: string) => {
    const end = (hostname: string, at: number): Deno.Addr => ({
      transport: "tcp",
      hostname,
      port: at,
    });
    const ends = { remoteAddr: end(remote, port), localAddr: end(local, 50_000) };
    return rules(allowed).allows({ hostname: "app.example.com", port }, ends);
  };
  assertEquals(allows("169.254.169.254", "169.254.1.1", 80), false);
  assertEquals(allows("fe80::1%2", "fe80::2", 80), false);
  assertEquals(allows("::ffff:169.254.169.254", "::1", 80), false);
  assertEquals(allows("64:ff9b:1::a9fe:a9fe", "::2", 80), false);
  assertEquals(allows("2002:7f00:1::", "::2", 8000), false);
  assertEquals(allows("2002:7f00:1::", "::2", 3000), true);
  assertEquals(allows("127.0.0.2", "127.0.0.1", 8000), false);
  assertEquals(allows("::1", "::1", 8001), false);
  assertEquals(allows("192.168.1.5", "192.168.1.5", 8000), false);
  assertEquals(allows("192.168.1.6", "192.168.1.5", 8000), true);
  assertEquals(allows("127.0.0.1", "127.0.0.1", 3000), true);
  assertEquals(allows("127.0.0.1", "127.0.0.1", 8000, "app.example.com"), true);
  assertEquals(allows("127.0.0.1", "127.0.0.1", 8000, "127.0.0.1:8000"), true);
  assertEquals(allows("127.0.0.1", "127.0.0.1", 8000, "127.0.0.1:8001"), false);
});

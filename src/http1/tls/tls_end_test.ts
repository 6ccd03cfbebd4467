import * as x509 from "@peculiar/x509";
import { connect as connectPlain, type Socket } from "node:net";
import { once } from "node:events";
import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { type TlsCertificate, TlsEnd } from "./tls_end.ts";

/** Time in which the listener accepts a connection on this machine, in milliseconds. */
const ACCEPTED = 200;

Deno.test({
  name: "A program on this machine cannot take the place of a client in a TLS relay",
  // Other systems have one loopback address only.
  ignore: Deno.build.os !== "linux",
  async fn() {
    const end = new TlsEnd(await makeCertificate());
    const localPort = freePort();
    const sockets: Socket[] = [];
    const open = async (port: number, localAddress: string) => {
      const socket = connectPlain({ host: "127.0.0.1", port, localAddress, localPort });
      sockets.push(socket);
      socket.on("error", () => {});
      await once(socket, "connect");
      await delay(ACCEPTED);
    };
    const real = Deno.connect;
    Deno.connect = (async (options: Deno.ConnectOptions) => {
      await open(options.port, "127.0.0.1");
      await open(options.port, "127.0.0.2");
      const near = await real(options);
      const localAddr = { ...near.localAddr, port: localPort };
      return Object.defineProperty(near, "localAddr", { value: localAddr });
    }) as typeof Deno.connect;
    const { near, inner } = await end.connect().finally(() => Deno.connect = real);
    const { hostname, port } = inner.remoteAddr as Deno.NetAddr;
    near.close();
    inner.close();
    end.close();
    for (const socket of sockets) socket.destroy();
    assertEquals({ hostname, port }, { hostname: "127.0.0.1", port: localPort });
  },
  // Connections that nothing claims are closed some seconds later.
  sanitizeOps: false,
  sanitizeResources: false,
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function makeCertificate(): Promise<TlsCertificate> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const options = { name: "CN=localhost", keys, signingAlgorithm: algorithm };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(options);
  const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { cert: certificate.toString("pem"), key: x509.PemConverter.encode(key, "PRIVATE KEY") };
}

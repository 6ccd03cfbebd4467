import { assertEquals } from "@std/assert";
import { sniff, type View, viewOf } from "./kinds.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("The content type decides, then the name", () => {
  const cases: [name: string, type: string, view: View | undefined][] = [
    ["a", "image/png", "image"],
    ["a.txt", "image/jpeg", "image"],
    ["a.png", "", "image"],
    ["A.PNG", "application/octet-stream", "image"],
    ["a.png", "application/x-www-form-urlencoded", "image"],
    ["a.svg", "image/svg+xml", "svg"],
    ["a.mp4", "video/mp4; codecs=avc1", "video"],
    ["a.ogg", "application/ogg", "audio"],
    ["a.pdf", "application/pdf", "pdf"],
    ["README.md", "text/plain", "markdown"],
    ["a.csv", "text/plain; charset=utf-8", "table"],
    ["a.json", "text/plain", "json"],
    ["a.png", "text/plain", "text"],
    ["a.bin", "application/ld+json", "json"],
    // A server takes TypeScript for the video format of the same extension.
    ["main.ts", "video/mp2t", "text"],
    ["a.zip", "application/zip", "archive"],
    ["a.zip", "", "archive"],
    ["a.rar", "application/vnd.rar", undefined],
    ["a", "", undefined],
    ["constructor", "", undefined],
    ["a.constructor", "", undefined],
    ["trip.md/photo", "", undefined],
  ];
  for (const [name, content_type, view] of cases) {
    assertEquals(viewOf({ name, content_type }), view, `${name} ${content_type}`);
  }
});

Deno.test("What a browser could run is text", () => {
  const types = ["text/html", "application/xhtml+xml", "text/xml", "text/javascript"];
  types.push("application/javascript", "image/foo+xml", "application/xml");
  for (const content_type of types) {
    assertEquals(viewOf({ name: "a", content_type }), "text", content_type);
  }
});

Deno.test("The first bytes tell the kind of a file without a type", () => {
  const cases: [bytes: string | number[], view: View][] = [
    [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image"],
    [[0xff, 0xd8, 0xff, 0xe0], "image"],
    ["GIF89a", "image"],
    ["RIFF1234WEBP", "image"],
    ["RIFF1234WAVE", "audio"],
    ["ID3\u0003", "audio"],
    ["\0\0\0 ftypisom", "video"],
    ["\0\0\0 ftypM4A ", "audio"],
    ["\0\0\0 ftypheic\0\0", "bytes"],
    [[0x1a, 0x45, 0xdf, 0xa3], "video"],
    ["%PDF-1.7", "pdf"],
    ["<!doctype html><script>", "text"],
    ["Grüße", "text"],
    [[0xff, 0xfe, 0x47, 0x00], "text"],
    ["PK\u0003\u0004\0\0", "archive"],
    [[0, 1, 2, 3], "bytes"],
  ];
  for (const [content, view] of cases) {
    const bytes = typeof content === "string" ? utf8(content) : new Uint8Array(content);
    assertEquals(sniff(bytes), view, String(content));
  }
});

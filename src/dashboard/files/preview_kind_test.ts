import { assertEquals } from "@std/assert";
import { hasPreview, previewOf } from "./preview_kind.js";

function kindOf(content_type: string, name = "file"): string {
  const preview = previewOf({ name, content_type });
  return preview === undefined ? "none" : `${preview.kind} ${preview.type}`;
}

Deno.test("Active content never gets its own content type", () => {
  const active = [
    ["text/html", "text text/plain"],
    ["text/html; charset=utf-8", "text text/plain"],
    [" TEXT/HTML ", "text text/plain"],
    ["application/xhtml+xml", "text text/plain"],
    ["text/xml", "text text/plain"],
    ["application/javascript", "text text/plain"],
    ["text/xsl", "text text/plain"],
    ["multipart/related", "none"],
    ["message/rfc822", "none"],
    ["application/x-shockwave-flash", "none"],
    ["application/wasm", "none"],
    ["image/png, text/html", "none"],
    ["constructor", "none"],
    ["__proto__", "none"],
  ] as const;
  for (const [type, kind] of active) assertEquals([type, kindOf(type)], [type, kind]);
});

Deno.test("Images, audio, video, PDF and text are previewed by their stored type", () => {
  assertEquals(kindOf("image/svg+xml"), "image image/svg+xml");
  assertEquals(kindOf("image/JPG"), "image image/jpeg");
  assertEquals(kindOf("audio/wave"), "audio audio/wav");
  assertEquals(kindOf("video/quicktime"), "video video/mp4");
  assertEquals(kindOf("application/pdf"), "pdf application/pdf");
  assertEquals(kindOf("application/geo+json"), "text text/plain");
  assertEquals(kindOf("application/zip", "text.txt"), "none");
});

Deno.test("A generic type falls back to the file extension", () => {
  for (const type of ["", "application/octet-stream"]) {
    assertEquals(kindOf(type, "a/Photo.JPEG"), "image image/jpeg");
    assertEquals(kindOf(type, "page.html"), "text text/plain");
    assertEquals(kindOf(type, "Makefile"), "text text/plain");
    assertEquals(kindOf(type, "photo.png/data"), "none");
    assertEquals(kindOf(type, "a.constructor"), "none");
  }
});

Deno.test("Too large files have no preview, except the beginning of a text", () => {
  assertEquals([hasPreview("image", 50 * 2 ** 20), hasPreview("image", 50 * 2 ** 20 + 1)], [
    true,
    false,
  ]);
  assertEquals(hasPreview("text", 1e12), true);
});

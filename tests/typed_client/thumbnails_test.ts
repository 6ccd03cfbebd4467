import { assertEquals } from "@std/assert";
import { imageBytes } from "../support/sharing/thumbnails.ts";
import { clientSuite, refused } from "../support/typed_client/client.ts";

const step = clientSuite("The client stores and fetches thumbnails");

step("A thumbnail is stored with a version of a file", async (drive) => {
  assertEquals(await drive.thumbnails.get("a.jpg"), undefined);
  await drive.put("a.jpg", "a picture");
  assertEquals(await drive.thumbnails.get("a.jpg"), undefined);
  const image = imageBytes(1000);
  const { etag, thumbnail } = await drive.thumbnails.put("a.jpg", image);
  assertEquals(thumbnail, true);
  const found = await drive.thumbnails.get("a.jpg");
  assertEquals([found?.type, await found?.bytes()], ["image/webp", image]);
  await drive.thumbnails.put("a.jpg", new Blob([imageBytes(500)]), { ifMatch: etag });
  assertEquals((await drive.thumbnails.get("a.jpg"))?.size, 500);
  await drive.put("a.jpg", "another");
  assertEquals(await drive.thumbnails.get("a.jpg"), undefined);
  const stale = () => drive.thumbnails.put("a.jpg", image, { ifMatch: etag });
  assertEquals(await refused(stale), [412, "precondition_failed"]);
});

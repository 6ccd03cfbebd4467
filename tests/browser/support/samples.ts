import type { Page } from "playwright-core";
import { utf8 } from "../../support/bytes.ts";

/** A PDF with one page and one line of text. */
export function pdf(line: string): Uint8Array<ArrayBuffer> {
  const text = `BT /F1 24 Tf 30 100 Td (${line}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${text.length}>>stream\n${text}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ].map((object, index) => `${index + 1} 0 obj${object}endobj\n`);
  return utf8(`%PDF-1.4\n${objects.join("")}trailer<</Root 1 0 R>>\n%%EOF\n`);
}

/** A WAV file with a tone of half a second. */
export function wav(): Uint8Array<ArrayBuffer> {
  const rate = 8000;
  const samples = rate / 2;
  const bytes = new Uint8Array(44 + samples);
  const view = new DataView(bytes.buffer);
  const write = (offset: number, text: string) => bytes.set(utf8(text), offset);
  write(0, "RIFF");
  view.setUint32(4, 36 + samples, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  write(36, "data");
  view.setUint32(40, samples, true);
  for (let i = 0; i < samples; i++) {
    bytes[44 + i] = 128 + 100 * Math.sin(i / rate * 440 * 2 * Math.PI);
  }
  return bytes;
}

/** A PNG image, drawn by the browser. @param side Width in pixels. */
export async function png(page: Page, side = 320): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await page.evaluate(async (side) => {
    const canvas = new OffscreenCanvas(side, side * 3 / 4);
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("No canvas");
    const sky = context.createLinearGradient(0, 0, 0, side);
    sky.addColorStop(0, "#7ab8f5");
    sky.addColorStop(1, "#f7e2b8");
    context.fillStyle = sky;
    context.fillRect(0, 0, side, side);
    context.fillStyle = "#3f7d4e";
    context.arc(side / 2, side * 1.2, side * 0.8, 0, 7);
    context.fill();
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
  }, side);
  return new Uint8Array(bytes);
}

/** A WebM video of half a second, recorded by the browser. */
export async function webm(page: Page): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm" });
    const pieces: Blob[] = [];
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    const stopped = new Promise((resolve) => recorder.onstop = resolve);
    recorder.start();
    for (let frame = 0; frame < 10; frame++) {
      context?.fillRect(frame * 10, frame * 10, 20, 20);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(pieces).arrayBuffer())];
  });
  return new Uint8Array(bytes);
}

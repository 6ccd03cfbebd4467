import { fill, h } from "../core/dom.js";
import { formatBytes } from "../core/format.js";
import { isAbort, sentenceOf } from "../core/notices.js";
import { baseName } from "./names.js";
import { MAX_PREVIEW } from "./limits.js";
import { hasPreview, previewOf } from "./preview_kind.js";
import { receivedBlob } from "./received_bytes.js";
import { readText } from "./read_text.js";

/** @import { Api } from "../core/api.js" */
/** @import { PreviewKind } from "./preview_kind.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * Shows a preview without running any content: images in `<img>`, audio and video
 * in the browser's player, PDF in the browser's viewer, text as text. The type of what the browser gets is one of our
 * list.
 *
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {{size: number, content_type: string}} file
 * @param {AbortSignal} signal aborted when the preview is closed
 * @returns {HTMLElement}
 */
export function createPreview(api, place, { size, content_type }, signal) {
  const element = h("div", { class: "preview" });
  const preview = previewOf({ name: place.name, content_type });
  if (preview === undefined) {
    fill(element, sentence("There is no preview of this type of file. Download it."));
  } else if (!hasPreview(preview.kind, size)) {
    const most = formatBytes(MAX_PREVIEW[preview.kind]);
    fill(element, sentence(`The file is too large for a preview (above ${most}). Download it.`));
  } else if (preview.kind === "pdf" && !navigator.pdfViewerEnabled) {
    fill(element, sentence("This browser cannot show PDF files. Download it."));
  } else {
    load(element, api, place, { ...preview, size }, signal);
  }
  return element;
}

/** @param {string} text */
function sentence(text) {
  return h("p", { class: "preview-note" }, text);
}

/**
 * @param {HTMLElement} element
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {{kind: PreviewKind, type: string, size: number}} file
 * @param {AbortSignal} signal
 */
async function load(element, api, place, { kind, type, size }, signal) {
  const most = MAX_PREVIEW[kind];
  const bar = h("progress", { max: Math.max(1, Math.min(size, most)), "aria-label": "Loading" });
  fill(element, bar);
  const onProgress = (/** @type {number} */ bytes) => bar.value = bytes;
  // An empty file has no valid range.
  const options = kind === "text" && size > most
    ? { signal, onProgress, range: `bytes=0-${most - 1}` }
    : { signal, onProgress };
  try {
    const blob = await receivedBlob(api, place, type, options);
    signal.throwIfAborted();
    if (kind === "text") fill(element, ...await textOf(blob, size));
    else if (kind === "pdf" && !await isPdf(blob)) {
      fill(element, sentence("This is not a PDF file."));
    } else showBlob(element, blob, { kind, name: place.name }, signal);
  } catch (error) {
    if (!isAbort(error)) fill(element, sentence(sentenceOf(error)));
  }
}

/** @param {Blob} blob @param {number} size of the whole file */
async function textOf(blob, size) {
  const text = await readText(blob);
  if (text === undefined) return [sentence("This is not a text file. Download it.")];
  if (text === "") return [sentence("The file is empty.")];
  const cut = size > blob.size
    ? [sentence(`The first ${formatBytes(blob.size)} of ${formatBytes(size)}:`)]
    : [];
  return [...cut, h("pre", { tabindex: "0", "aria-label": "Content" }, text)];
}

/** Whether it has the signature of a PDF file. @param {Blob} blob */
async function isPdf(blob) {
  return (await blob.slice(0, 1024).text()).includes("%PDF-");
}

/**
 * @param {HTMLElement} element
 * @param {Blob} blob
 * @param {{kind: PreviewKind, name: string}} file
 * @param {AbortSignal} signal
 */
function showBlob(element, blob, { kind, name }, signal) {
  const address = URL.createObjectURL(blob);
  const revoke = () => URL.revokeObjectURL(address);
  signal.addEventListener("abort", revoke, { once: true });
  const shown = elementOf(kind, address, baseName(name));
  shown.addEventListener("error", () => {
    revoke();
    fill(element, sentence("The browser cannot show this file. Download it."));
  });
  // Revoke the URL once the image is loaded: opened on its own, an SVG would be a page.
  if (kind === "image") shown.addEventListener("load", revoke);
  fill(element, shown);
}

/** @param {PreviewKind} kind @param {string} src @param {string} name */
function elementOf(kind, src, name) {
  switch (kind) {
    case "audio":
      return h("audio", { src, controls: true, "aria-label": name });
    case "video":
      return h("video", { src, controls: true, "aria-label": name });
    case "pdf":
      return h("iframe", { src, title: name });
    default:
      return h("img", { src, alt: name });
  }
}

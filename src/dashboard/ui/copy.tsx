import { Check, Copy } from "lucide";
import { useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { IconButton } from "./button.tsx";

/** How long a copy button shows its success, in milliseconds. */
const SHOWN = 1500;

/** A text on one line with a button that copies it. */
export function CopyField({ text, label, isSecret = false }: {
  text: string;
  /** What the text is, such as "Key". */
  label: string;
  isSecret?: boolean;
}) {
  return (
    <div class="copy-field">
      <code class={isSecret ? "secret" : ""} aria-label={label}>{text}</code>
      <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
    </div>
  );
}

/** A button that copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { toasts } = useApp();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    toasts.success("Copied");
    setTimeout(() => setCopied(false), SHOWN);
  };
  return <IconButton icon={isCopied ? Check : Copy} label={label} onClick={copy} />;
}

/** Copies a text. @throws {Error} If the browser refuses, as it does for pages without HTTPS. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) throw new Error("The browser does not allow copying: select the text");
  }
}

/** The way that works without HTTPS. */
function copySelected(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  const parent = document.querySelector("dialog[open]") ?? document.body;
  parent.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}

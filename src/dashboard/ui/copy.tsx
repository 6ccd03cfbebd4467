import { Check, Copy } from "lucide";
import { useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { IconButton } from "./button.tsx";

/** How long a copy button shows its success, in milliseconds. */
const SHOWN = 1500;

interface CopyProps {
  text: string;
  /** What the text is, such as "Key". */
  label: string;
  isSecret?: boolean;
}

/** A text on one line with a button that copies it. */
export function CopyField({ text, label, isSecret = false }: CopyProps) {
  return (
    <div class="copy-field line">
      <code class={isSecret ? "secret" : ""} aria-label={label}>{text}</code>
      {/* A dialog that shows a secret begins at its button. */}
      <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} isFirst={isSecret} />
    </div>
  );
}

export function LabelledCopy(props: CopyProps) {
  return (
    <div class="field">
      <span class="field-label">{props.label}</span>
      <CopyField {...props} />
    </div>
  );
}

/** Lines to paste, below their title. */
export function Snippet({ title, text, name = title, copy }: {
  title: string;
  text: string;
  /** The name for screen readers. */
  name?: string;
  /** The label of the button. */
  copy: string;
}) {
  return (
    <div class="snippet frame">
      <div class="snippet-head line between">
        <span>{title}</span>
        <CopyButton text={text} label={copy} />
      </div>
      {/* It scrolls sideways, so it must be focusable. */}
      <pre tabIndex={0} role="region" aria-label={name}><code>{text}</code></pre>
    </div>
  );
}

export function CopyButton({ text, label, isFirst = false }: {
  text: string;
  label: string;
  /** Whether a dialog begins there. */
  isFirst?: boolean;
}) {
  const { toasts } = useApp();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    toasts.success("Copied");
    setTimeout(() => setCopied(false), SHOWN);
  };
  return (
    <IconButton
      icon={isCopied ? Check : Copy}
      label={label}
      data-begin={isFirst || undefined}
      onClick={copy}
    />
  );
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

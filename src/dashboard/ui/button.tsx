import { ExternalLink, type IconNode } from "lucide";
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { Icon } from "./icon.tsx";

type ButtonAttributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "onClick" | "icon" | "size">;

interface ButtonProps extends ButtonAttributes {
  kind?: "primary" | "danger" | "quiet";
  icon?: IconNode;
  type?: "button" | "submit";
  disabled?: boolean;
  /** While a promise that it returns is pending, the button is busy; what it throws is shown as a message. */
  onClick?: (event: MouseEvent) => unknown;
  children?: ComponentChildren;
}

export function Button({ kind, icon, children, ...rest }: ButtonProps) {
  return (
    <Pressed {...rest} class={`button ${kind ?? ""} ${rest.class ?? ""}`}>
      {icon && <Icon of={icon} />}
      {children !== undefined && <span>{children}</span>}
    </Pressed>
  );
}

/** A button that has only an icon. Its label is read by screen readers and shown as a tooltip. */
export function IconButton(
  { icon, label, size = 18, ...rest }: Omit<ButtonProps, "label" | "kind"> & {
    icon: IconNode;
    label: string;
    size?: number;
  },
) {
  return (
    <Pressed
      {...rest}
      class={`icon-button ${rest.class ?? ""}`}
      aria-label={label}
      title={label}
    >
      <Icon of={icon} size={size} />
    </Pressed>
  );
}

function Pressed(
  { type = "button", disabled = false, onClick, ...rest }: Omit<ButtonProps, "kind" | "icon">,
) {
  const [isBusy, click] = useBusy(onClick);
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled}
      aria-busy={isBusy || rest["aria-busy"] || undefined}
      onClick={click}
    />
  );
}

/** A link that looks like a button, to an address that opens in a tab of its own. */
export function OpenLink({ href, label }: { href: string; label: string }) {
  return (
    <a
      class="icon-button"
      href={href}
      target="_blank"
      rel="noreferrer"
      aria-label={label}
      title="Open"
    >
      <Icon of={ExternalLink} />
    </a>
  );
}

/** Runs an action of a button or form once at a time, and shows what it throws: as a message, or with `fail`. */
export function useBusy<E extends Event = MouseEvent>(
  action: ((event: E) => unknown) | undefined,
  fail?: (error: unknown) => void,
): [boolean, (event: E) => Promise<void>] {
  const { toasts } = useApp();
  const [isBusy, setBusy] = useState(false);
  const run = async (event: E) => {
    // The browser would send the form itself.
    if (event.type === "submit") event.preventDefault();
    if (isBusy) return;
    try {
      const result = action?.(event);
      if (!(result instanceof Promise)) return;
      setBusy(true);
      await result;
    } catch (error) {
      if (fail === undefined) toasts.error(error);
      else fail(error);
    } finally {
      setBusy(false);
    }
  };
  return [isBusy, run];
}

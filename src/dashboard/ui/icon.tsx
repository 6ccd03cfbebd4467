import type { IconNode } from "lucide";
import { h } from "preact";

/** An icon of lucide: drawn with the color of the text, and silent for screen readers. */
export function Icon({ of, size = 18, class: name, color }: {
  of: IconNode;
  /** Pixels. */
  size?: number;
  class?: string;
  color?: string;
}) {
  return (
    <svg
      class={name === undefined ? "icon" : `icon ${name}`}
      style={color && `color: ${color}`}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {of.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="logo-ground" />
      <path
        d="M7 11.500A2.500 2.500 0 0 1 9.500 9h4l2.500 2.500h6.500A2.500 2.500 0 0 1 25 14v1H7z"
        fill="#fff"
        opacity=".55"
      />
      <rect x="7" y="14" width="18" height="9.500" rx="2.500" fill="#fff" />
      <circle cx="21.500" cy="18.750" r="1.500" class="logo-ground" />
    </svg>
  );
}

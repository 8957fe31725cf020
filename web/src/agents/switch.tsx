/** A switch: on or off, at once. */

interface SwitchProps {
  /** What is on or off, for screen readers and as a tip. */
  readonly label: string
  readonly isOn: boolean
  readonly busy: boolean
  onChange(): void
}

const TRACK_CLASSES = [
  'inline-flex h-5 w-9 shrink-0 cursor-pointer items-center rounded-full border px-0.5 transition-colors',
  'disabled:cursor-default disabled:opacity-60',
].join(' ')

export function Switch({ label, isOn, busy, onChange }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      title={label}
      disabled={busy}
      aria-busy={busy}
      class={`${TRACK_CLASSES} ${isOn ? 'border-live bg-live' : 'border-other bg-sunken'}`}
      onClick={onChange}
    >
      <span
        aria-hidden="true"
        class={`size-3.5 rounded-full transition-transform ${isOn ? 'translate-x-4 bg-paper' : 'bg-other'}`}
      />
    </button>
  )
}

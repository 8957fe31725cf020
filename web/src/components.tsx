/** Small components that all views share. */

import type { ComponentChildren } from 'preact'

export type Tone = 'live' | 'wait' | 'fault' | 'other'

const DOTS: Readonly<Record<Tone, string>> = {
  live: 'bg-live',
  wait: 'bg-wait',
  fault: 'bg-fault',
  other: 'bg-other',
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ running: 'live', done: 'live', success: 'live', ok: 'live', succeeded: 'live' },
  ...{ waiting: 'wait', parked: 'wait', paused: 'wait', partial_success: 'wait', not_started: 'wait' },
  ...{ failed: 'fault', dead: 'fault', error: 'fault', timeout: 'fault', blocked: 'fault', unknown: 'fault' },
}

export const toneOf = (status: string): Tone => TONES[status] ?? 'other'

export function Dot({ tone, pulsing = false }: { readonly tone: Tone; readonly pulsing?: boolean }) {
  return (
    <span
      aria-hidden="true"
      class={`inline-block size-2 shrink-0 rounded-full ${DOTS[tone]} ${pulsing ? 'pulsing' : ''}`}
    />
  )
}

export function Logo({ isActive }: { readonly isActive: boolean }) {
  return (
    <svg aria-hidden="true" class={`size-6 ${isActive ? 'text-live' : 'text-other'}`} viewBox="0 0 32 32" fill="none">
      <circle
        cx="16"
        cy="16"
        r="12"
        stroke="currentColor"
        stroke-width="2.5"
        stroke-linecap="round"
        stroke-dasharray="58 18"
        transform="rotate(-90 16 16)"
      />
      <circle class={isActive ? 'pulsing' : ''} cx="16" cy="16" r="4.5" fill="currentColor" />
    </svg>
  )
}

interface SectionProps {
  readonly title: string
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, note = '', children }: SectionProps) {
  return (
    <section class="min-w-0">
      <header class="mb-2 flex items-baseline justify-between gap-3 px-1">
        <h2 class="font-semibold">{title}</h2>
        <span class="label figures">{note}</span>
      </header>
      {children}
    </section>
  )
}

export function Card({
  children,
  class: more = '',
}: {
  readonly children: ComponentChildren
  readonly class?: string
}) {
  return <div class={`min-w-0 rounded-xl border border-line bg-surface ${more}`}>{children}</div>
}

const BUTTON_CLASSES = [
  'inline-flex max-w-full shrink-0 cursor-pointer items-center justify-center rounded-md border px-3 py-1.5',
  'font-medium transition-colors',
  'disabled:cursor-default disabled:opacity-60',
].join(' ')

const BUTTON_LOOKS = {
  plain: 'border-line bg-surface hover:bg-sunken active:bg-line',
  main: 'border-ink bg-ink text-paper hover:opacity-85',
  danger: 'border-fault bg-surface text-fault hover:bg-sunken',
} as const

interface ButtonProps {
  /** The button's command is running. */
  readonly busy?: boolean
  readonly look?: keyof typeof BUTTON_LOOKS
  readonly type?: 'button' | 'submit'
  readonly title?: string
  readonly children: ComponentChildren
  readonly onClick?: () => void
}

export function Button({ busy = false, look = 'plain', type = 'button', title, children, onClick }: ButtonProps) {
  const classes = `${BUTTON_CLASSES} ${BUTTON_LOOKS[look]}`
  return (
    <button type={type} class={classes} title={title} disabled={busy} aria-busy={busy} onClick={onClick}>
      {children}
    </button>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="px-4 py-5 text-muted">{children}</p>
}

/** Rotates when its `details` opens. */
export function Chevron() {
  return (
    <svg aria-hidden="true" class="size-3 transition-transform group-open:rotate-90" viewBox="0 0 12 12" fill="none">
      <path d="M4.5 2.5 8 6l-3.5 3.5" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
    </svg>
  )
}

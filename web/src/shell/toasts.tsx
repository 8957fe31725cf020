/** Short messages about what a button did; they leave by themselves. */

import { Dot } from '../components.tsx'
import type { Texts } from '../texts.ts'

interface Toast {
  readonly id: number
  readonly tone: 'live' | 'fault'
  readonly text: string
  /** It says that the server does not answer. */
  readonly isOffline: boolean
}

const SHOWN_MS = { live: 5000, fault: 15_000 } as const
/** Long texts take longer to read. */
const MS_PER_CHARACTER = 40
const MAX_TOASTS = 4

export class Toasts {
  items: readonly Toast[] = []
  readonly #onChange: () => void
  #lastId = 0

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  add(tone: Toast['tone'], text: string, isOffline = false): void {
    this.#lastId += 1
    const id = this.#lastId
    this.items = [...this.items, { id, tone, text, isOffline }].slice(-MAX_TOASTS)
    this.#onChange()
    setTimeout(() => this.remove(id), SHOWN_MS[tone] + text.length * MS_PER_CHARACTER)
  }

  remove(id: number): void {
    this.items = this.items.filter((toast) => toast.id !== id)
    this.#onChange()
  }

  /** The server answers again. */
  removeOffline(): void {
    this.items = this.items.filter(({ isOffline }) => !isOffline)
  }
}

const LIST_CLASSES = [
  'pointer-events-none fixed inset-x-3 top-12 z-30 flex flex-col items-center gap-2',
  'md:inset-x-auto md:top-auto md:right-6 md:bottom-24 md:items-end',
].join(' ')

const TOAST_CLASSES = [
  'pointer-events-auto flex max-w-md items-start gap-3 rounded-xl border border-line bg-surface px-4 py-3',
  'shadow-lg',
].join(' ')

export function ToastList({ toasts, texts }: { readonly toasts: Toasts; readonly texts: Texts }) {
  return (
    <div class={LIST_CLASSES} role="status" aria-live="polite">
      {toasts.items.map(({ id, tone, text }) => (
        <div key={id} data-toast={tone} class={TOAST_CLASSES}>
          <span class="flex h-5 items-center">
            <Dot tone={tone} />
          </span>
          <span class="max-h-[50dvh] min-w-0 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{text}</span>
          <button
            type="button"
            class="-mr-1 cursor-pointer px-1 text-muted hover:text-ink"
            aria-label={texts.dismiss}
            onClick={() => toasts.remove(id)}
          >
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}

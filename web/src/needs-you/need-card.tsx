/** The frame of everything that needs the owner. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Dot, type Tone } from '../components.tsx'
import { visibleText } from '../format.ts'
import { useTexts } from '../page-language.ts'

interface NeedCardProps {
  /** The kind of need. */
  readonly kind: string
  readonly id: string
  readonly tone: Tone
  readonly title: string
  readonly note?: string
  /** What the run was asked to do; empty: it is said nearby. */
  readonly task?: string
  /** Chosen with the keyboard. */
  readonly isCurrent: boolean
  readonly children: ComponentChildren
}

export function NeedCard({ kind, id, tone, title, note = '', task = '', isCurrent, children }: NeedCardProps) {
  const card = useRef<HTMLElement>(null)
  const { texts } = useTexts()
  useEffect(() => {
    if (isCurrent) card.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    <article
      ref={card}
      class={`rounded-xl border bg-surface px-4 py-3 sm:px-5 ${isCurrent ? 'border-decide' : 'border-line'}`}
      data-need={kind}
      data-need-id={id}
      aria-label={title}
      aria-current={isCurrent ? 'true' : undefined}
    >
      <header class="flex flex-wrap items-baseline justify-between gap-x-3">
        <h2 class="flex min-w-0 items-center gap-2 font-semibold wrap-anywhere">
          <Dot tone={tone} />
          {title}
        </h2>
        <span class="label">{note}</span>
      </header>
      {task !== '' && (
        <p class="mt-1 line-clamp-2 text-muted wrap-anywhere" data-task>
          {texts.needs.task(visibleText(task))}
        </p>
      )}
      <div class="mt-2 flex min-w-0 flex-col gap-2.5">{children}</div>
    </article>
  )
}

export function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="min-w-0">
      <span class="label">{label}</span>
      <div class="wrap-anywhere">{children}</div>
    </div>
  )
}

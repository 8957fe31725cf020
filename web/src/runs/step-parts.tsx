/** What the views of a step share. */

import type { ComponentChildren } from 'preact'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { PlainText } from '../plain-text.tsx'

export type FullStep = NonNullable<CommandOutput<'trace show'>['step']>

export function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="min-w-0">
      <h3 class="label mb-1">{title}</h3>
      {children}
    </section>
  )
}

const TEXT_CLASSES = [
  'max-h-96 min-w-0 overflow-auto rounded-md bg-sunken px-3 py-2 font-mono text-[13px] wrap-anywhere',
  'whitespace-pre-wrap',
].join(' ')

/** A text as it is, scrolled if it is long. */
export const LongText = ({ text }: { readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard, too.
  <pre class={TEXT_CLASSES} tabIndex={0} dir="auto">
    <PlainText text={text} />
  </pre>
)

export const Pill = ({ children, tone = 'text-muted' }: { children: ComponentChildren; tone?: string }) => (
  <span class={`shrink-0 rounded-full border border-line px-2 text-[12px] ${tone}`}>{children}</span>
)

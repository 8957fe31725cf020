/** Small parts that Settings repeats: lists of facts, rows with buttons, questions before something is removed. */

import { type ComponentChildren, toChildArray } from 'preact'
import { Button, Card, Empty } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import type { PartProps } from './parts.ts'

type Fact = readonly [label: string, value: ComponentChildren]

export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="grid gap-x-6 gap-y-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
      {facts.map(([label, value]) => (
        <div key={label} class="contents">
          <dt class="text-muted">{label}</dt>
          <dd class="mb-1.5 wrap-anywhere sm:mb-0">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export const Path = ({ children }: { readonly children: string }) => (
  <span class="font-mono text-[13px] wrap-anywhere">{visibleText(children)}</span>
)

const SCROLLED_CLASSES = 'max-h-56 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 text-[13px] whitespace-pre-wrap'

/** Text of others, which may be long: it scrolls. */
export const Scrolled = ({ children }: { readonly children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard, too.
  <pre class={`${SCROLLED_CLASSES} wrap-anywhere`} tabIndex={0}>
    {visibleText(children)}
  </pre>
)

interface RowProps {
  readonly name: string
  readonly children: ComponentChildren
  readonly buttons?: ComponentChildren
}

/** An entry of a list; `name` identifies it. */
export function Entry({ name, children, buttons }: RowProps) {
  return (
    <li class="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3" data-entry={name}>
      <div class="min-w-0 flex-1 basis-64">{children}</div>
      {buttons !== undefined && <div class="flex flex-wrap gap-2">{buttons}</div>}
    </li>
  )
}

interface EntryListProps {
  readonly label: string
  /** What an empty list says. */
  readonly empty?: string
  readonly children: ComponentChildren
}

export function EntryList({ label, empty = '', children }: EntryListProps) {
  return (
    <Card>
      {toChildArray(children).length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <ul class="divide-y divide-line" aria-label={label}>
          {children}
        </ul>
      )}
    </Card>
  )
}

interface ConfirmProps extends PartProps {
  readonly title: string
  readonly yes: string
  readonly busy: boolean
  readonly children: ComponentChildren
  onClose(): void
  onYes(): void
}

/** Asks before something is done that is not easily taken back. */
export function Confirm({ title, yes, busy, children, onClose, onYes, texts }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="mt-2 flex flex-col gap-3">{children}</div>
      <DialogButtons>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button look="danger" busy={busy} onClick={onYes}>
          {yes}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}

/** What waits for the owner in a document: an edit of its file, and parts that come from outside. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button, Dot } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { DiffView } from '../diff-view.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { MemoryTexts } from '../texts/memory.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { type Labelled, LabelWords } from './labels.tsx'
import type { DocumentName } from './versions.ts'

interface WaitingProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly name: DocumentName
}

const NOTICE_CLASSES = 'rounded-xl border border-wait bg-surface px-4 py-3 sm:px-5'

export function PendingEdit({ context, page, own, name }: WaitingProps) {
  const [isOpen, setOpen] = useState(false)
  const busy = page.view.busy.has('state accept') || page.view.busy.has('state revert')
  const accept = () =>
    page.run(
      'state accept',
      { document: name },
      { done: ({ items }) => (items.some(({ outcome }) => outcome === 'clash') ? own.clashed : own.used) },
    )
  const discard = () => page.run('state revert', { document: name }, { done: own.discardedPending })
  return (
    <section class={NOTICE_CLASSES} aria-label={own.pendingTitle} data-pending={name}>
      <h2 class="flex items-center gap-2 font-semibold">
        <Dot tone="wait" /> {own.pendingTitle}
      </h2>
      <p class="mt-1 text-muted">{own.pendingHelp}</p>
      <div class="mt-3 flex flex-wrap gap-2">
        <Button look={isOpen ? 'plain' : 'main'} onClick={() => setOpen(!isOpen)}>
          {isOpen ? own.hide : own.seePending}
        </Button>
        <Button busy={busy || !isOpen} onClick={() => void accept()}>
          {own.use}
        </Button>
        <Button look="danger" busy={busy} onClick={() => void discard()}>
          {own.discardPending}
        </Button>
      </div>
      {isOpen && <PendingDiff page={page} context={context} name={name} />}
    </section>
  )
}

function PendingDiff({ page, context: { language }, name }: Omit<WaitingProps, 'own'>) {
  const state = useFetched(page, name, () => readCommand('state diff', { document: name }))
  if (state.kind !== 'ready') return null
  return (
    <div class="mt-3 overflow-hidden rounded-lg border border-line">
      <DiffView diff={state.data.diff} language={language} />
    </div>
  )
}

interface OutsideProps extends WaitingProps {
  readonly sections: readonly (Labelled & { readonly title: string })[]
}

export function OutsideSections({ context: { texts }, page, own, name, sections }: OutsideProps) {
  const [isAsking, setAsking] = useState(false)
  const trust = async (): Promise<void> => {
    await page.run('state accept', { document: name }, { done: own.trusted })
    setAsking(false)
  }
  const list = (
    <ul class="mt-2 flex flex-col gap-1">
      {sections.map(({ title, ...label }) => (
        <li key={title} class="flex flex-wrap items-center gap-x-3" data-section={title}>
          <span class="min-w-0 font-medium wrap-anywhere">{visibleText(title) || own.beforeHeadings}</span>
          <LabelWords own={own} label={label} />
        </li>
      ))}
    </ul>
  )
  return (
    <section class={NOTICE_CLASSES} aria-label={own.sectionsTitle}>
      <div class="flex flex-wrap items-center justify-between gap-3">
        <h2 class="font-semibold">{own.sectionsTitle}</h2>
        <Button onClick={() => setAsking(true)}>{own.trust}</Button>
      </div>
      {list}
      {isAsking && (
        <Dialog title={own.trustTitle} onClose={() => setAsking(false)}>
          <p class="mt-2 text-muted">{own.trustHelp}</p>
          {list}
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={page.view.busy.has('state accept')} onClick={() => void trust()}>
              {own.trust}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </section>
  )
}

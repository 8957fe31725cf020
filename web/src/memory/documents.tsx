/** All documents with what waits in them, and the copies that were saved instead of being lost. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Section } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { DiffView } from '../diff-view.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { navigate } from '../shell/router.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { MEMORY_TEXTS, type MemoryTexts } from '../texts/memory.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext, type ViewContext } from '../view-context.ts'
import { addressOf } from './document-places.tsx'
import { keepDraft } from './drafts.ts'
import { MemoryFrame } from './frame.tsx'
import { LabelWords } from './labels.tsx'
import { EDITABLE, sayAuthor } from './versions.ts'

type DocumentEntry = CommandOutput<'documents list'>['items'][number]
type SavedCopy = DocumentEntry['copies'][number]

export function Documents(props: PlaceProps) {
  const { page, language } = props
  const own = MEMORY_TEXTS[language]
  const context = useViewContext(props, 15_000)
  const state = useFetched(page, '', () => readCommand('documents list'))
  if (state.kind !== 'ready')
    return (
      <MemoryFrame language={language} tab="documents">
        <NotFetched language={language} state={state} />
      </MemoryFrame>
    )
  const { items, degraded } = state.data
  const copies = items.flatMap((entry) => entry.copies.map((copy) => ({ entry, copy })))
  return (
    <MemoryFrame language={language} tab="documents">
      {degraded !== null && !items.some(({ pending }) => pending) && (
        <p class="text-fault wrap-anywhere">{visibleText(degraded)}</p>
      )}
      <Card>
        <ul class="divide-y divide-line">
          {items.toSorted(byUse).map((entry) => (
            <li key={entry.name}>
              <DocumentRow context={context} own={own} entry={entry} />
            </li>
          ))}
        </ul>
      </Card>
      {copies.length > 0 && (
        <Section title={own.copies}>
          <p class="label mb-2 px-1">{own.copiesHelp}</p>
          <ul class="flex flex-col gap-2">
            {copies.map(({ entry, copy }) => (
              <li key={copy.file}>
                <CopyCard {...{ context, page, own, entry, copy }} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </MemoryFrame>
  )
}

/** Those that the owner edits come first. */
const byUse = (a: DocumentEntry, b: DocumentEntry): number =>
  Number(EDITABLE.includes(b.name)) - Number(EDITABLE.includes(a.name))

interface DocumentRowProps {
  readonly context: ViewContext
  readonly own: MemoryTexts
  readonly entry: DocumentEntry
}

function DocumentRow({ context: { language, now }, own, entry }: DocumentRowProps) {
  const { name, latest, pending } = entry
  const when = latest && relativeTime(Date.parse(latest.ts), now, language)
  return (
    <a class="block px-4 py-3 hover:bg-sunken sm:px-5" href={addressOf(name)} data-document-row={name}>
      <span class="flex flex-wrap items-center gap-x-3">
        <span class="font-medium">{name}</span>
        {latest && <LabelWords own={own} label={entry} />}
        {pending && <span class="label text-wait">{own.pendingBadge}</span>}
        <span class="label ml-auto">
          {latest ? `${own.version(latest.version)} · ${own.by(sayAuthor(own, latest.author))} · ${when}` : own.notYet}
        </span>
      </span>
      <span class="block text-muted">{own.purposes[name]}</span>
    </a>
  )
}

interface CopyCardProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly entry: DocumentEntry
  readonly copy: SavedCopy
}

function CopyCard({ context, page, own, entry, copy }: CopyCardProps) {
  const { texts, language, now } = context
  const [diff, setDiff] = useState<string>()
  const [isDeleting, setDeleting] = useState(false)
  const { file, kind, ts } = copy
  const compare = () => readCommand('state diff', { document: entry.name, own: true, copy: file })
  const show = async (): Promise<void> => setDiff(diff === undefined ? (await compare()).diff : undefined)
  /** What the owner was writing, if anything, would be lost; the copy is a new start. */
  const edit = async (): Promise<void> => {
    keepDraft(entry.name, { text: (await compare()).text, base: entry.latest?.version ?? 0 })
    navigate(`${addressOf(entry.name)}?edit=1`)
  }
  const failing = (work: Promise<void>): void => void work.catch((thrown) => page.reportFailure(thrown))
  const remove = async (): Promise<void> => {
    await page.run('state discard', { document: entry.name, copy: file }, { busy: file, done: own.copyDeleted })
    setDeleting(false)
  }
  const canRead = kind !== 'torn'
  return (
    <Card class="px-4 py-3 sm:px-5">
      <div data-copy={file}>
        <p class="wrap-anywhere">
          <span class="font-medium">{entry.name}</span> · {own.copyKinds[kind]} ·{' '}
          <time class="text-muted" dateTime={ts} title={clockTime(Date.parse(ts), now, language)}>
            {relativeTime(Date.parse(ts), now, language)}
          </time>
        </p>
        <div class="mt-2 flex flex-wrap gap-2">
          {canRead && <Button onClick={() => failing(show())}>{diff === undefined ? own.seeCopy : own.hide}</Button>}
          {canRead && EDITABLE.includes(entry.name) && <Button onClick={() => failing(edit())}>{own.editCopy}</Button>}
          <Button busy={page.view.busy.has(file)} onClick={() => setDeleting(true)}>
            {own.deleteCopy}
          </Button>
        </div>
        {diff !== undefined && (
          <div class="mt-3 overflow-hidden rounded-lg border border-line">
            <DiffView diff={diff} language={language} />
          </div>
        )}
      </div>
      {isDeleting && (
        <Dialog title={own.deleteCopyTitle} onClose={() => setDeleting(false)}>
          <p class="mt-2 text-muted">{own.deleteCopyHelp}</p>
          <DialogButtons>
            <Button onClick={() => setDeleting(false)}>{texts.cancel}</Button>
            <Button look="danger" onClick={() => void remove()}>
              {own.deleteCopy}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </Card>
  )
}

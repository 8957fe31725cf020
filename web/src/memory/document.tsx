/** One document: its text, what waits for the owner in it, its editor and its history. */

import { readCommand } from '../api.ts'
import { Button, Card, Chevron, Empty } from '../components.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import { navigate } from '../shell/router.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { MEMORY_TEXTS, type MemoryTexts } from '../texts/memory.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { Editor } from './editor.tsx'
import { History } from './history.tsx'
import { LabelWords } from './labels.tsx'
import { type DocumentName, type DocumentText, EDITABLE, sayAuthor, sayReason } from './versions.ts'
import { OutsideSections, PendingEdit } from './waiting-edits.tsx'

interface DocumentViewProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly name: DocumentName
  /** Address of this view; with `?edit`, the editor is open. */
  readonly href: string
  readonly isEditing: boolean
}

export function DocumentView(props: DocumentViewProps) {
  const { context, page, name, href, isEditing } = props
  const own = MEMORY_TEXTS[context.language]
  const state = useFetched(page, name, () => fetchDocument(name))
  if (state.kind !== 'ready') return <NotFetched language={context.language} state={state} />
  const { shown, isPending } = state.data
  const canEdit = EDITABLE.includes(name)
  if (isEditing && canEdit)
    return (
      <Editor
        {...{ context, page, own, name }}
        opened={{ text: shown?.own_text ?? '', base: shown?.version ?? 0 }}
        onClose={() => navigate(href, { replace: true })}
      />
    )
  const edit = canEdit ? () => navigate(`${href}?edit=1`) : undefined
  return (
    <>
      <p class="text-muted">{own.purposes[name]}</p>
      {isPending && <PendingEdit {...{ context, page, own, name }} />}
      {shown && shown.sections.length > 0 && (
        <OutsideSections {...{ context, page, own, name }} sections={shown.sections} />
      )}
      {shown ? <TextCard {...{ context, own, name, edit, shown }} /> : <Missing {...{ own, name, edit }} />}
      {shown && <History {...{ context, page, own, name }} latest={shown.version} />}
    </>
  )
}

interface FetchedDocument {
  /** Null: it does not exist yet. */
  readonly shown: DocumentText | null
  readonly isPending: boolean
}

/** A document that does not exist yet is no error. */
async function fetchDocument(name: DocumentName): Promise<FetchedDocument> {
  const { items } = await readCommand('documents list')
  const entry = items.find((each) => each.name === name)
  const shown = entry?.latest ? await readCommand('state show', { document: name }) : null
  return { shown, isPending: entry?.pending ?? false }
}

interface MissingProps {
  readonly own: MemoryTexts
  readonly name: DocumentName
  /** Undefined: editing it would have no effect. */
  readonly edit: (() => void) | undefined
}

function Missing({ own, name, edit }: MissingProps) {
  return (
    <Card>
      <Empty>
        {own.missing(name)} {own.missingHelp[name]}
      </Empty>
      {edit && (
        <p class="px-4 pb-4">
          <Button look="main" onClick={edit}>
            {own.write}
          </Button>
        </p>
      )}
    </Card>
  )
}

interface TextCardProps extends MissingProps {
  readonly context: ViewContext
  readonly shown: DocumentText
}

const HEADER_CLASSES =
  'flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-2.5 sm:px-5'

function TextCard({ context, own, name, shown, edit }: TextCardProps) {
  const { own_text, runtime } = shown
  return (
    <Card>
      <header class={HEADER_CLASSES}>
        <div class="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5">
          <h2 class="font-semibold">{name}</h2>
          <LabelWords own={own} label={shown} />
          {!isBlank(own_text) && <Attribution context={context} own={own} shown={shown} />}
        </div>
        {edit && <Button onClick={edit}>{own.edit}</Button>}
      </header>
      <div class="px-4 py-4 sm:px-5" data-document={name}>
        {isBlank(own_text) ? (
          <p class="text-muted">
            {own.empty} {edit && own.missingHelp[name]}
          </p>
        ) : (
          <Markdown text={own_text} />
        )}
      </div>
      {runtime !== null && <Runtime own={own} text={runtime} />}
    </Card>
  )
}

/** A comment tells people what to write; it is no text yet. */
function isBlank(text: string): boolean {
  const parts = text.split('-->')
  return parts.pop()?.trim() === '' && parts.every((part) => part.trimStart().startsWith('<!--'))
}

interface AttributionProps {
  readonly context: ViewContext
  readonly own: MemoryTexts
  readonly shown: DocumentText
}

function Attribution({ context: { language, now }, own, shown }: AttributionProps) {
  const at = Date.parse(shown.ts)
  return (
    <span class="label wrap-anywhere">
      {own.version(shown.version)} · {own.by(sayAuthor(own, shown.author))} · {sayReason(own, shown.reason)} ·{' '}
      <time dateTime={shown.ts} title={clockTime(at, now, language)}>
        {relativeTime(at, now, language)}
      </time>
    </span>
  )
}

/** The marks around the system's part are comments, which are not for reading. */
const withoutMarks = (text: string): string => text.replaceAll(/^<!--.*-->\s*$/gm, '').trim()

function Runtime({ own, text }: { readonly own: MemoryTexts; readonly text: string }) {
  return (
    <details class="group border-t border-line px-4 py-3 sm:px-5">
      <summary class="label flex cursor-pointer list-none items-center gap-1.5 hover:text-ink">
        <Chevron /> {own.runtime}
      </summary>
      <p class="label mt-2">{own.runtimeHelp}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard, too. */}
      <pre class="mt-2 max-h-96 overflow-auto rounded-md bg-sunken p-3 font-mono text-[12.5px]" tabIndex={0}>
        {visibleText(withoutMarks(text))}
      </pre>
    </details>
  )
}

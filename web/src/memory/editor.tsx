/** Edits a document with a preview. If it changed meanwhile, nothing is written and the owner's text stays. */

import { useState } from 'preact/hooks'
import { type ApiError, readCommand } from '../api.ts'
import { Button, Card } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { DiffView } from '../diff-view.tsx'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import type { MemoryTexts } from '../texts/memory.ts'
import { useFocus } from '../use-focus.ts'
import type { ViewContext } from '../view-context.ts'
import { type Draft, keepDraft, readDraft } from './drafts.ts'
import type { DocumentName } from './versions.ts'

interface EditorProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly name: DocumentName
  /** What the owner starts from; later changes of the document do not touch what is being written. */
  readonly opened: Draft
  onClose(): void
}

/** What changed in the document since the edited version. */
interface Conflict {
  readonly version: number
  readonly diff: string
}

export function Editor({ context, page, own, name, opened, onClose }: EditorProps) {
  const edit = useEdit({ page, own, name, opened, onClose })
  const { text, isChanged, conflict } = edit
  return (
    <form
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void edit.save(conflict?.version)
      }}
    >
      {edit.isRestored && <p class="text-muted">{own.draft}</p>}
      {conflict && <ConflictNotice own={own} context={context} conflict={conflict} />}
      <div class="grid gap-4 lg:grid-cols-2">
        <TextField
          own={own}
          name={name}
          text={text}
          onInput={edit.write}
          onSave={() => void edit.save(conflict?.version)}
        />
        <div class="flex flex-wrap items-center gap-2 lg:order-last lg:col-span-2">
          <input
            class="min-w-40 flex-1 rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted"
            maxLength={200}
            aria-label={own.reason}
            placeholder={own.reason}
            value={edit.reason}
            onInput={({ currentTarget }) => edit.setReason(currentTarget.value)}
          />
          <Button onClick={() => (isChanged ? edit.setLeaving(true) : edit.leave())}>{context.texts.cancel}</Button>
          <Button look="main" type="submit" busy={edit.busy || !isChanged} title={isChanged ? '' : own.unchanged}>
            {conflict ? own.saveOver : own.save}
          </Button>
        </div>
        <Preview own={own} text={text} />
      </div>
      {edit.isLeaving && (
        <Dialog title={own.throwAwayTitle} onClose={() => edit.setLeaving(false)}>
          <p class="mt-2 text-muted">{own.throwAwayHelp}</p>
          <DialogButtons>
            <Button onClick={() => edit.setLeaving(false)}>{own.keepWriting}</Button>
            <Button look="danger" onClick={edit.leave}>
              {own.throwAway}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </form>
  )
}

/** The text that is being written, and what became of it. */
function useEdit({ page, own, name, opened, onClose }: Omit<EditorProps, 'context'>) {
  // Only the first value counts: the document may change while it is edited.
  const [start] = useState(() => ({ ...opened, draft: readDraft(name) }))
  const [text, setText] = useState(start.draft?.text ?? start.text)
  const [reason, setReason] = useState('')
  const [conflict, setConflict] = useState<Conflict>()
  const [isLeaving, setLeaving] = useState(false)
  const base = start.draft?.base ?? start.base
  const leave = (): void => {
    keepDraft(name, undefined)
    onClose()
  }
  const showConflict = ({ code }: ApiError): boolean => {
    if (code === 'conflict')
      void readConflict(name, base).then(setConflict, (thrown: unknown) => page.reportFailure(thrown))
    return code === 'conflict'
  }
  const save = async (over = base): Promise<void> => {
    const why = reason.trim() === '' ? {} : { reason: reason.trim() }
    const saved = await page.run(
      'state edit',
      { document: name, text, base: over, ...why },
      { done: ({ version }) => own.saved(version), refused: showConflict },
    )
    if (saved) leave()
  }
  const write = (written: string): void => {
    setText(written)
    keepDraft(name, { text: written, base })
  }
  const isChanged = text !== start.text || start.draft !== undefined
  const isRestored = start.draft !== undefined
  const busy = page.view.busy.has('state edit')
  return { text, write, reason, setReason, conflict, busy, isLeaving, setLeaving, leave, save, isChanged, isRestored }
}

async function readConflict(name: DocumentName, base: number): Promise<Conflict> {
  const { version } = await readCommand('state show', { document: name })
  const compared = await readCommand('state diff', {
    ...{ document: name, own: true, to: version },
    ...(base === 0 ? {} : { from: base }),
  })
  return { version, diff: compared.diff }
}

interface ConflictProps extends Pick<EditorProps, 'own' | 'context'> {
  readonly conflict: Conflict
}

function ConflictNotice({ own, context: { language }, conflict }: ConflictProps) {
  return (
    <section class="rounded-xl border border-wait bg-surface px-4 py-3 sm:px-5" role="alert" data-conflict>
      <h2 class="font-semibold">{own.conflictTitle}</h2>
      <p class="mt-1 text-muted">{own.conflictHelp}</p>
      <div class="mt-3 max-h-72 overflow-y-auto rounded-lg border border-line">
        <DiffView diff={conflict.diff} language={language} />
      </div>
    </section>
  )
}

interface TextFieldProps extends Pick<EditorProps, 'own' | 'name'> {
  readonly text: string
  onInput(text: string): void
  onSave(): void
}

const TEXT_CLASSES = [
  'min-h-[50dvh] w-full resize-y rounded-xl border border-line bg-surface px-4 py-3 font-mono text-[13px] leading-6',
  'sm:px-5',
].join(' ')

function TextField({ own, name, text, onInput, onSave }: TextFieldProps) {
  const field = useFocus<HTMLTextAreaElement>()
  return (
    <textarea
      ref={field}
      class={TEXT_CLASSES}
      aria-label={`${name}: ${own.writing}`}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        onSave()
      }}
    />
  )
}

function Preview({ own, text }: { readonly own: MemoryTexts; readonly text: string }) {
  return (
    <section class="min-w-0" aria-label={own.preview} data-preview>
      <Card class="h-full px-4 py-3 sm:px-5">
        <span class="label">{own.preview}</span>
        <div class="mt-2">
          <Markdown text={text} />
        </div>
      </Card>
    </section>
  )
}

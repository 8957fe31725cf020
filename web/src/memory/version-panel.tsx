/** One version: compared with the one before or the one in use, or its text; and the way back to it. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { DiffLayoutSwitch, DiffView } from '../diff-view.tsx'
import { visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { PageState } from '../page-state.ts'
import type { MemoryTexts } from '../texts/memory.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { LabelWords } from './labels.tsx'
import { type DocumentName, type DocumentText, type DocumentVersion, EDITABLE } from './versions.ts'

interface PanelProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly name: DocumentName
  readonly latest: number
  readonly version: DocumentVersion
}

const KINDS = ['before', 'now', 'text'] as const
type Kind = (typeof KINDS)[number]

export function VersionPanel(props: PanelProps) {
  const { context, page, own, name, version, latest } = props
  const { language } = context
  const [kind, setKind] = useState<Kind>('before')
  const state = useFetched(page, `${name} ${version.version}`, () =>
    readCommand('state show', { document: name, version: version.version }),
  )
  return (
    <div class="mt-3 flex flex-col gap-3">
      {state.kind === 'ready' && <Origin own={own} shown={state.data} />}
      <div class="flex flex-wrap items-center gap-2">
        <label class="label flex items-center gap-2">
          {own.against}
          <select
            class="rounded-md border border-line bg-surface px-2 py-1 text-ink"
            value={kind}
            onChange={({ currentTarget }) => setKind(KINDS.find((each) => each === currentTarget.value) ?? 'before')}
          >
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {own.againstKinds[each]}
              </option>
            ))}
          </select>
        </label>
        <span class="ml-auto">
          <DiffLayoutSwitch language={language} />
        </span>
        {version.version !== latest && EDITABLE.includes(name) && <RestoreButton {...props} />}
      </div>
      {kind === 'text' ? (
        state.kind === 'ready' && (
          <div class="rounded-lg border border-line px-4 py-3">
            <Markdown text={state.data.own_text} />
          </div>
        )
      ) : (
        <Difference {...props} isAgainstNow={kind === 'now'} />
      )}
    </div>
  )
}

function Origin({ own, shown }: { readonly own: MemoryTexts; readonly shown: DocumentText }) {
  const { written_by } = shown
  return (
    <p class="flex flex-wrap items-center gap-x-4 gap-y-1">
      <LabelWords own={own} label={shown} />
      {written_by && (
        <a
          class="label min-w-0 text-link underline underline-offset-2 wrap-anywhere"
          href={`/runs/${encodeURIComponent(written_by.run_id)}`}
        >
          {own.openRun(visibleText(written_by.task))}
        </a>
      )}
    </p>
  )
}

interface DifferenceProps extends PanelProps {
  readonly isAgainstNow: boolean
}

function Difference({ context, page, own, name, version, latest, isAgainstNow }: DifferenceProps) {
  const of = version.version
  const compared = isAgainstNow ? { from: of, to: latest } : { to: of }
  const state = useFetched(page, `${name} ${of} ${isAgainstNow} ${latest}`, () =>
    readCommand('state diff', { document: name, own: true, ...compared }),
  )
  if (state.kind === 'failed') return <p class="text-fault">{visibleText(state.reason)}</p>
  if (state.kind !== 'ready') return null
  const isOnlySystem = state.data.diff === '' && version.author === 'system'
  return (
    <div class="overflow-hidden rounded-lg border border-line" data-difference={isAgainstNow ? 'now' : 'before'}>
      {isOnlySystem ? (
        <p class="px-3 py-2 text-muted">{own.onlySystem}</p>
      ) : (
        <DiffView diff={state.data.diff} language={context.language} />
      )}
    </div>
  )
}

function RestoreButton({ context, page, own, name, version: { version }, latest }: PanelProps) {
  const [diff, setDiff] = useState<string>()
  const busy = page.view.busy.has('state revert')
  const preview = async (): Promise<void> => {
    try {
      setDiff((await readCommand('state diff', { document: name, own: true, from: latest, to: version })).diff)
    } catch (thrown) {
      page.reportFailure(thrown)
    }
  }
  const restore = async (): Promise<void> => {
    await page.run('state revert', { document: name, version }, { done: own.restored(version) })
    setDiff(undefined)
  }
  return (
    <>
      <Button onClick={() => void preview()}>{own.restore}</Button>
      {diff !== undefined && (
        <Dialog title={own.restoreTitle(version)} isWide onClose={() => setDiff(undefined)}>
          <p class="mt-2 text-muted">{own.restoreHelp}</p>
          <div class="mt-3 max-h-[50dvh] overflow-y-auto rounded-lg border border-line">
            <DiffView diff={diff} language={context.language} />
          </div>
          <DialogButtons>
            <Button onClick={() => setDiff(undefined)}>{context.texts.cancel}</Button>
            <Button look="main" busy={busy} onClick={() => void restore()}>
              {own.restore}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

/** Chooses the run to compare with: one of the same task, or any by its id. */

import { useEffect, useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { Dispatch } from '../api-types.ts'
import { Button, Dot, toneOf } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { relativeTime } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import { navigate } from '../shell/router.ts'
import { sayTitle } from '../texts/errors.ts'
import { type RunsContext, runAddress } from './runs-context.ts'
import type { RunDetails } from './use-trace.ts'

interface CompareDialogProps {
  readonly context: RunsContext
  readonly dispatch: RunDetails
  onClose(): void
}

const CANDIDATE_CLASSES = [
  'flex w-full min-w-0 cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-left',
  'hover:bg-sunken',
].join(' ')

export function CompareDialog({ context, dispatch, onClose }: CompareDialogProps) {
  const { own, texts, language } = context
  const [other, setOther] = useState('')
  const { same, others } = useCandidates(dispatch)
  const compare = (id: string): void => {
    if (id.trim() === '') return
    onClose()
    navigate(runAddress(dispatch.dispatch_id, { with: id.trim() }))
  }
  return (
    <Dialog title={own.compareTitle} onClose={onClose}>
      <p class="mt-1 text-muted">{own.compareHelp}</p>
      <h3 class="label mt-4 mb-1">{own.sameTask}</h3>
      {same?.length === 0 && <p class="text-muted">{own.noneSame}</p>}
      <Candidates
        context={context}
        runs={same ?? []}
        choose={compare}
        describe={({ outcome, title }) => outcome ?? title}
      />
      {same?.length === 0 && others.length > 0 && (
        <>
          <h3 class="label mt-4 mb-1">{own.otherTasks}</h3>
          <Candidates
            context={context}
            runs={others}
            choose={compare}
            describe={({ title }) => sayTitle(title, language)}
          />
        </>
      )}
      <form
        class="mt-4"
        onSubmit={(event) => {
          event.preventDefault()
          compare(other)
        }}
      >
        <label class="flex flex-col gap-1">
          <span class="label">{own.otherId}</span>
          <input
            class="h-9 rounded-md border border-line bg-surface px-3 font-mono text-[13px]"
            value={other}
            onInput={({ currentTarget }) => setOther(currentTarget.value)}
          />
        </label>
        <DialogButtons>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button look="main" type="submit">
            {own.compareYes}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

interface CandidatesProps {
  readonly context: RunsContext
  readonly runs: readonly Dispatch[]
  choose(id: string): void
  describe(run: Dispatch): string
}

function Candidates({ context: { language, now }, runs, choose, describe }: CandidatesProps) {
  return (
    <ul class="flex max-h-72 flex-col gap-1 overflow-y-auto">
      {runs.map((run) => (
        <li key={run.dispatch_id}>
          <button
            type="button"
            class={CANDIDATE_CLASSES}
            data-candidate={run.dispatch_id}
            onClick={() => choose(run.dispatch_id)}
          >
            <Dot tone={toneOf(run.status)} />
            <span class="min-w-0 flex-1 truncate">{plainLine(describe(run))}</span>
            <span class="label shrink-0">{relativeTime(Date.parse(run.created_at), now, language)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** How many runs of the agent are looked through. */
const MAX_SEARCHED = 200
const MAX_OTHERS = 20

interface Found {
  /** Runs with the same task, newest first; undefined until they are known. */
  readonly same: readonly Dispatch[] | undefined
  readonly others: readonly Dispatch[]
}

function useCandidates({ dispatch_id, agent_id, prompt }: RunDetails): Found {
  const [found, setFound] = useState<Found>({ same: undefined, others: [] })
  useEffect(() => {
    readCommand('queue list', { agent: agent_id, limit: MAX_SEARCHED }).then(
      ({ items }) => {
        const runs = items.filter((run) => run.dispatch_id !== dispatch_id)
        const isSame = (run: Dispatch): boolean => prompt !== '' && run.prompt === prompt
        setFound({ same: runs.filter(isSame), others: runs.slice(0, MAX_OTHERS) })
      },
      () => setFound({ same: [], others: [] }),
    )
  }, [dispatch_id])
  return found
}

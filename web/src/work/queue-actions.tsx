/** What the owner can do with runs of the queue: one by one, or with all that are selected. */

import { useState } from 'preact/hooks'
import type { Dispatch } from '../api-types.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import type { Language } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { QUEUE_TEXTS } from '../texts/work-queue.ts'

const ACTIONS = ['retry', 'prioritize', 'resume', 'pause', 'cancel'] as const
type QueueAction = (typeof ACTIONS)[number]

const IN_FLIGHT = ['pending', 'running', 'waiting']

/** Contract: whether the action makes sense for the run as it is now. */
function isPossible(action: QueueAction, { status, paused, cancel }: Dispatch): boolean {
  const isOpen = IN_FLIGHT.includes(status)
  if (action === 'retry') return status === 'failed' || status === 'dead'
  if (action === 'cancel') return isOpen && cancel === null
  if (action === 'prioritize') return status === 'pending' && cancel === null && !paused
  return isOpen && cancel === null && paused === (action === 'resume')
}

interface ActionProps {
  readonly page: PageState
  readonly language: Language
  readonly runs: readonly Dispatch[]
  /** What is busy meanwhile. */
  readonly name: string
  onDone?(): void
}

/** The buttons that fit the runs; cancelling is confirmed. */
export function QueueButtons({ page, language, runs, name, onDone }: ActionProps) {
  const own = QUEUE_TEXTS[language]
  const [isConfirming, setConfirming] = useState(false)
  const busy = page.view.busy.has(name)
  const start = (action: QueueAction): void =>
    void runAction({ page, language, runs, name }, action).then(() => onDone?.())
  const cancelled = runs.filter((run) => isPossible('cancel', run))
  return (
    <>
      {ACTIONS.filter((action) => runs.some((run) => isPossible(action, run))).map((action) => (
        <Button key={action} busy={busy} onClick={() => (action === 'cancel' ? setConfirming(true) : start(action))}>
          {own.actions[action]}
        </Button>
      ))}
      {isConfirming && (
        <Dialog title={own.cancelTitle(cancelled.length)} onClose={() => setConfirming(false)}>
          <p class="mt-2 text-muted">{own.cancelHelp}</p>
          <DialogButtons>
            <Button onClick={() => setConfirming(false)}>{own.keep}</Button>
            <Button
              look="danger"
              onClick={() => {
                setConfirming(false)
                start('cancel')
              }}
            >
              {own.actions.cancel}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

/** One after the other; each failure is told by itself, the others by their number. */
async function runAction({ page, language, runs, name }: ActionProps, action: QueueAction): Promise<void> {
  let succeeded = 0
  for (const { dispatch_id: id } of runs.filter((run) => isPossible(action, run))) {
    const output = await page.run(`queue ${action}`, { id }, { busy: name, done: '' })
    if (output) succeeded += 1
  }
  if (succeeded > 0) page.toasts.add('live', QUEUE_TEXTS[language].done[action](succeeded))
}

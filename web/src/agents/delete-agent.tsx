/** Deletes an agent, after saying what stays of it. */

import { useState } from 'preact/hooks'
import { runCommand } from '../api.ts'
import type { AgentDetails } from '../api-types.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { navigate } from '../shell/router.ts'
import type { AgentTexts } from '../texts/agent.ts'
import type { Texts } from '../texts.ts'

interface DeleteProps {
  readonly page: PageState
  readonly texts: Texts
  readonly own: AgentTexts
  readonly agent: AgentDetails
}

export function DeleteAgent({ page, texts, own, agent: { agent_id: id, workspace } }: DeleteProps) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const remove = async (): Promise<void> => {
    setBusy(true)
    try {
      const { bring_back } = await runCommand('agent delete', { id, yes: true })
      // Before anything is fetched anew: this page has nothing to show any more.
      navigate('/agents', { replace: true })
      page.toasts.add('live', own.removed(visibleText(id), visibleText(bring_back.join('; '))))
    } catch (thrown) {
      page.reportFailure(thrown)
      setBusy(false)
    }
  }
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {own.remove}
      </Button>
      {isAsking && (
        <Dialog title={own.removeTitle(visibleText(id))} onClose={() => setAsking(false)}>
          <p class="mt-2">{own.removeHelp}</p>
          <p class="mt-3 text-muted">{own.stays}</p>
          <ul class="list-disc pl-5 text-muted">
            <li>{own.staysRuns}</li>
            {workspace !== null && <li class="wrap-anywhere">{own.staysFolder(visibleText(workspace))}</li>}
            <li>{own.staysMemory}</li>
            <li class="wrap-anywhere">{own.staysFiles('agents/.deleted')}</li>
          </ul>
          <DialogButtons>
            <Button onClick={() => setAsking(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={isBusy} onClick={() => void remove()}>
              {own.remove}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

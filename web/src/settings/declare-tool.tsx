/** The owner says what calls of a tool do. */

import { useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import { MCP_TEXTS } from '../texts/settings/mcp.ts'
import { ChoiceField, FormError, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'
import type { ServerTool } from './server-entry.tsx'

interface DeclareProps extends PartProps {
  readonly server: string
  readonly tool: ServerTool
  onClose(): void
}

export function DeclareDialog({ server, tool, onClose, ...props }: DeclareProps) {
  const { page, language } = props
  const own = MCP_TEXTS[language]
  const [reach, setReach] = useState(tool.effect.reach)
  const [recovery, setRecovery] = useState(tool.effect.recovery)
  const action = useAction(page, language)
  const declare = async (effect: { reach?: typeof reach; recovery?: typeof recovery }): Promise<void> => {
    if (await action.run('mcp declare', { server, tool: tool.tool, ...effect }, own.declared)) onClose()
  }
  return (
    <Dialog title={own.declareTitle(visibleText(tool.tool))} onClose={onClose}>
      <form
        class="mt-3 flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void declare({ reach, recovery })
        }}
      >
        <p class="text-muted">{own.declareHelp}</p>
        <ChoiceField
          label={own.reach}
          value={reach}
          choices={Object.entries(own.reaches) as [typeof reach, string][]}
          onChange={(chosen) => setReach(chosen)}
        />
        <ChoiceField
          label={own.recovery}
          value={recovery}
          choices={Object.entries(own.recoveries) as [typeof recovery, string][]}
          onChange={(chosen) => setRecovery(chosen)}
        />
        <FormError error={action.error} />
        <DialogButtons>
          {tool.declared && (
            <Button busy={action.busy} onClick={() => void declare({})}>
              {own.undeclare}
            </Button>
          )}
          <Button onClick={onClose}>{props.texts.cancel}</Button>
          <Button look="main" type="submit" busy={action.busy}>
            {commonTexts(props).save}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

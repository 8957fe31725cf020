/** The form that adds an MCP server. A program runs on the machine of Tireless, so the owner is asked once more. */

import { useState } from 'preact/hooks'
import type { CommandInput, CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button, Card } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import { MCP_TEXTS } from '../texts/settings/mcp.ts'
import { CheckField, ChoiceField, Command, FormError, SecretField, TextField, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'
import { ServerProblem } from './server-entry.tsx'

type Kind = 'command' | 'url'

interface Entered {
  readonly kind: Kind
  readonly name: string
  readonly target: string
  readonly key: string
  readonly keyAs: string
  readonly network: string
  readonly reads: string
  readonly folders: string
  readonly untested: boolean
}

const EMPTY: Entered = {
  ...{ kind: 'command', name: '', target: '', key: '', keyAs: '', network: 'none', reads: '', folders: '' },
  untested: false,
}

const filled = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value.trim() ? [[key, value.trim()]] : [])))

const inputOf = ({ kind, name, target, key, keyAs, network, reads, folders, untested }: Entered) =>
  ({
    ...{ name: name.trim(), untested },
    ...filled({ [kind]: target, key, key_as: key.trim() === '' ? '' : keyAs }),
    ...(kind === 'command' ? filled({ network, reads, folders }) : {}),
  }) as CommandInput<'mcp add'>

export function AddServer({ onClose, ...props }: PartProps & { onClose(): void }) {
  const { page, language, texts } = props
  const own = MCP_TEXTS[language]
  const [entered, setEntered] = useState(EMPTY)
  const [isAsked, setAsked] = useState(false)
  const [failed, setFailed] = useState<CommandOutput<'mcp add'> | null>(null)
  const action = useAction(page, language)
  const set = (change: Partial<Entered>): void => setEntered((was) => ({ ...was, ...change }))
  const add = async (): Promise<void> => {
    setAsked(false)
    setFailed(null)
    const tried = await action.run('mcp add', inputOf(entered), ({ added, name }) => (added ? own.added(name) : ''))
    if (tried?.added) onClose()
    else if (tried) setFailed(tried)
  }
  return (
    <Card class="px-4 py-4 sm:px-5">
      <form
        class="flex max-w-2xl flex-col gap-4"
        aria-label={own.add}
        onSubmit={(event) => {
          event.preventDefault()
          if (action.busy) return
          if (entered.name.trim() === '' || entered.target.trim() === '') action.fail(commonTexts(props).required)
          else setAsked(true)
        }}
      >
        <h2 class="text-lg font-semibold">{own.add}</h2>
        <ServerFields {...props} {...{ entered, set }} />
        <CheckField label={own.untested} isChecked={entered.untested} onChange={(untested) => set({ untested })} />
        <FormError error={action.error ?? (failed ? own.notAdded : null)} />
        {failed && <ServerProblem language={language} server={failed} />}
        <div class="flex flex-wrap gap-2">
          <Button look="main" type="submit" busy={action.busy}>
            {action.busy ? own.testing : commonTexts(props).add}
          </Button>
          <Button onClick={onClose}>{texts.cancel}</Button>
        </div>
      </form>
      {isAsked && <SureDialog {...props} entered={entered} onClose={() => setAsked(false)} onYes={() => void add()} />}
    </Card>
  )
}

interface SureProps extends PartProps {
  readonly entered: Entered
  onClose(): void
  onYes(): void
}

/** Says what will run, before it runs. */
function SureDialog({ entered: { kind, target, network, reads, folders }, onClose, onYes, ...props }: SureProps) {
  const own = MCP_TEXTS[props.language]
  const details = kind === 'command' ? [network, reads, folders].filter((text) => text.trim() !== '') : []
  return (
    <Dialog title={own.sureTitle[kind]} onClose={onClose}>
      <div class="mt-2 flex flex-col gap-3">
        <p>{kind === 'command' ? own.sureCommand : own.sureUrl}</p>
        <Command>{[target, ...details].map(visibleText).join('\n')}</Command>
        <p class="text-muted">{commonTexts(props).runsPrograms}</p>
      </div>
      <DialogButtons>
        <Button onClick={onClose}>{props.texts.cancel}</Button>
        <Button look="main" onClick={onYes}>
          {own.sure}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}

interface FieldsProps extends PartProps {
  readonly entered: Entered
  set(change: Partial<Entered>): void
}

function ServerFields({ entered, set, ...props }: FieldsProps) {
  const own = MCP_TEXTS[props.language]
  const { kind } = entered
  return (
    <>
      <ChoiceField
        label={own.kind}
        value={kind}
        choices={Object.entries(own.kinds) as [Kind, string][]}
        onChange={(chosen) => set({ kind: chosen, target: '' })}
      />
      <TextField label={own.name} help={own.nameHelp} value={entered.name} isMono onChange={(name) => set({ name })} />
      <TextField
        label={kind === 'command' ? own.command : own.url}
        help={kind === 'command' ? own.commandHelp : ''}
        value={entered.target}
        placeholder={kind === 'command' ? 'npx -y @modelcontextprotocol/server-everything' : 'https://…'}
        isMono
        onChange={(target) => set({ target })}
      />
      <SecretField
        label={own.key}
        help={commonTexts(props).secretHelp}
        value={entered.key}
        onChange={(key) => set({ key })}
      />
      {entered.key !== '' && (
        <TextField
          label={own.keyAs[kind]}
          help={own.keyAsHelp[kind]}
          value={entered.keyAs}
          isMono
          onChange={(keyAs) => set({ keyAs })}
        />
      )}
      {kind === 'command' && <SandboxFields {...props} {...{ entered, set }} />}
    </>
  )
}

function SandboxFields({ entered, set, language }: FieldsProps) {
  const own = MCP_TEXTS[language]
  return (
    <>
      <TextField
        label={own.network}
        help={own.networkHelp}
        value={entered.network}
        isMono
        onChange={(network) => set({ network })}
      />
      <TextField
        label={own.reads}
        help={own.pathsHelp}
        value={entered.reads}
        isMono
        onChange={(reads) => set({ reads })}
      />
      <TextField
        label={own.folders}
        help={own.pathsHelp}
        value={entered.folders}
        isMono
        onChange={(folders) => set({ folders })}
      />
    </>
  )
}

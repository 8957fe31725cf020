/** The form that adds a channel: its keys are tested before anything is kept. */

import { useState } from 'preact/hooks'
import type { CommandInput } from '../../../src/commands/lib/registry.ts'
import { Button, Card } from '../components.tsx'
import { CHANNEL_TEXTS } from '../texts/settings/channels.ts'
import { CheckField, ChoiceField, FormError, SecretField, TextField, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type Kind = CommandInput<'channels add'>['name']
type Domain = keyof (typeof CHANNEL_TEXTS)['en']['domains']

interface Entered {
  readonly kind: Kind
  readonly appId: string
  readonly domain: Domain
  readonly address: string
  readonly url: string
  readonly secret: string
  readonly untested: boolean
}

const EMPTY: Omit<Entered, 'kind'> = {
  ...{ appId: '', domain: 'feishu', address: '', url: '', secret: '', untested: false },
}

const inputOf = ({ kind, appId, domain, address, url, secret, untested }: Entered): CommandInput<'channels add'> => ({
  ...{ name: kind, secret: secret.trim(), untested },
  ...(kind === 'lark' ? { app_id: appId.trim(), domain: address.trim() || domain } : { url: url.trim() }),
})

interface AddProps extends PartProps {
  /** The kinds that are not set up yet. */
  readonly kinds: readonly Kind[]
  onClose(): void
}

export function AddChannel({ kinds, onClose, ...props }: AddProps) {
  const { page, language, texts } = props
  const own = CHANNEL_TEXTS[language]
  const [entered, setEntered] = useState<Entered>({ ...EMPTY, kind: kinds[0] ?? 'lark' })
  const set = (change: Partial<Entered>): void => setEntered((was) => ({ ...was, ...change }))
  const action = useAction(page, language)
  const add = async (): Promise<void> => {
    const isWhole =
      entered.secret.trim() !== '' && (entered.kind === 'lark' ? entered.appId : entered.url).trim() !== ''
    if (!isWhole) return action.fail(commonTexts(props).required)
    const name = own.names[entered.kind] ?? entered.kind
    if (await action.run('channels add', inputOf(entered), own.added(name))) onClose()
  }
  return (
    <Card class="px-4 py-4 sm:px-5">
      <form
        class="flex max-w-2xl flex-col gap-4"
        aria-label={own.add}
        onSubmit={(event) => {
          event.preventDefault()
          if (!action.busy) void add()
        }}
      >
        <h2 class="text-lg font-semibold">{own.add}</h2>
        <ChoiceField
          label={own.kind}
          value={entered.kind}
          choices={kinds.map((kind) => [kind, own.kinds[kind]] as const)}
          onChange={(kind) => setEntered({ ...EMPTY, kind })}
        />
        <ol class="list-decimal pl-5 text-muted">
          {own.steps[entered.kind].map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <ChannelFields {...props} {...{ entered, set }} />
        <CheckField label={own.untested} isChecked={entered.untested} onChange={(untested) => set({ untested })} />
        <FormError error={action.error} />
        <div class="flex flex-wrap gap-2">
          <Button look="main" type="submit" busy={action.busy}>
            {action.busy ? own.testing : own.addNow}
          </Button>
          <Button onClick={onClose}>{texts.cancel}</Button>
        </div>
      </form>
    </Card>
  )
}

interface FieldsProps extends PartProps {
  readonly entered: Entered
  set(change: Partial<Entered>): void
}

function ChannelFields({ entered, set, ...props }: FieldsProps) {
  const own = CHANNEL_TEXTS[props.language]
  const { secretHelp } = commonTexts(props)
  const isLark = entered.kind === 'lark'
  return (
    <>
      {isLark ? (
        <>
          <TextField
            label={own.appId}
            value={entered.appId}
            placeholder="cli_…"
            isMono
            onChange={(appId) => set({ appId })}
          />
          <ChoiceField
            label={own.domain}
            value={entered.domain}
            choices={Object.entries(own.domains) as [Domain, string][]}
            onChange={(domain) => set({ domain })}
          />
          <details>
            <summary class="label cursor-pointer list-none underline underline-offset-2 hover:text-ink">
              {own.otherDomain}
            </summary>
            <div class="mt-2">
              <TextField
                label={own.otherDomain}
                value={entered.address}
                placeholder="https://…"
                isMono
                onChange={(address) => set({ address })}
              />
            </div>
          </details>
        </>
      ) : (
        <TextField
          label={own.url}
          help={own.urlHelp}
          value={entered.url}
          inputMode="url"
          isMono
          onChange={(url) => set({ url })}
        />
      )}
      <SecretField
        label={isLark ? own.appSecret : own.secret}
        help={secretHelp}
        value={entered.secret}
        onChange={(secret) => set({ secret })}
      />
    </>
  )
}

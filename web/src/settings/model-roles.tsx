/** Which model does what: the default, the one that plans, and the stand-ins. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button, Card, Section } from '../components.tsx'
import { MODEL_TEXTS } from '../texts/settings/models.ts'
import { TextField, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type ModelList = CommandOutput<'models list'>
type Role = keyof (typeof MODEL_TEXTS)['en']['roleNames']

interface RolesProps extends PartProps {
  readonly list: ModelList
}

const ROLES: readonly Role[] = ['default', 'planner', 'fallback']

export function ModelRoles(props: RolesProps) {
  return (
    <Section title={MODEL_TEXTS[props.language].roles}>
      <Card class="grid gap-x-6 gap-y-4 px-4 py-4 md:grid-cols-3">
        {ROLES.map((role) => (
          <RoleField key={`${role} ${chosenFor(props.list, role)}`} {...props} role={role} />
        ))}
      </Card>
    </Section>
  )
}

const chosenFor = ({ chosen }: ModelList, role: Role): string =>
  role === 'fallback' ? chosen.fallback.join(', ') : (chosen[role] ?? '')

function RoleField({ role, list, ...props }: RolesProps & { readonly role: Role }) {
  const { page, language } = props
  const [own, common] = [MODEL_TEXTS[language], commonTexts(props)]
  const current = chosenFor(list, role)
  const [value, setValue] = useState(current)
  const action = useAction(page, language)
  const save = (): Promise<unknown> => action.run('models set', { role, model: value.trim() || 'none' }, common.saved)
  return (
    <form
      class="flex flex-col items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div class="w-full">
        <TextField
          label={own.roleNames[role]}
          help={own.roleHelp[role]}
          error={action.error ?? undefined}
          value={value}
          isMono
          suggestions={list.items.map(({ id }) => id).filter((id) => !id.includes('<'))}
          onChange={setValue}
        />
      </div>
      {value.trim() !== current && (
        <Button type="submit" busy={action.busy}>
          {common.save}
        </Button>
      )}
    </form>
  )
}

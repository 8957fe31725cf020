/** Why a model cannot be used, in words that say what to do. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Chevron } from '../components.tsx'
import { type Language, visibleText } from '../format.ts'
import { MODEL_TEXTS } from '../texts/settings/models.ts'

type Problem = keyof (typeof MODEL_TEXTS)['en']['problems']

type ModelTrial = Pick<CommandOutput<'models test'>, 'code' | 'error'>

const BY_CODE: Readonly<Record<string, Problem>> = {
  ...{ model_auth: 'wrongKey', model_unknown: 'unknownModel', model_unavailable: 'unreachable' },
  ...{ model_timeout: 'timeout', model_limited: 'limited', budget_unpriced: 'unpriced' },
  ...{ budget_money: 'capReached', budget_calls: 'capReached', budget_tokens: 'capReached' },
  ...{ model_garbled: 'garbled', model_cut: 'garbled', model_refused: 'unknownModel', config_invalid: 'badAddress' },
}

export function problemOf({ code, error }: ModelTrial): Problem | undefined {
  if (error?.includes('no credit left')) return 'noMoney'
  if (error?.includes('too short')) return 'notKey'
  if (error?.includes('environment variable')) return 'noKey'
  if (error?.includes('the address is missing')) return 'noAddress'
  if (code === 'config_invalid' && !/base_url|address|http/.test(error ?? '')) return undefined
  return BY_CODE[code ?? '']
}

export function ModelProblem({ language, trial }: { readonly language: Language; readonly trial: ModelTrial }) {
  const own = MODEL_TEXTS[language]
  const problem = problemOf(trial)
  return (
    <div class="flex min-w-0 flex-col gap-1" role="alert" data-problem={problem ?? trial.code}>
      <p class="text-fault wrap-anywhere">{problem ? own.problems[problem] : visibleText(trial.error ?? '')}</p>
      {problem && (
        <details class="group label">
          <summary class="flex cursor-pointer list-none items-center gap-1 hover:text-ink">
            <Chevron />
            {own.details}
          </summary>
          <p class="mt-1 wrap-anywhere">{visibleText(trial.error ?? '')}</p>
        </details>
      )}
    </div>
  )
}

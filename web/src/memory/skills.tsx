/** Skills and AGENTS.md files: which there are, and which agents may follow. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Card, Empty } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { PlaceProps } from '../shell/place.tsx'
import { NotFetched } from '../tabbed-place.tsx'
import { SKILLS_TEXTS, type SkillsTexts } from '../texts/skills.ts'
import { useFetched } from '../use-fetched.ts'
import { useViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { MemoryFrame } from './frame.tsx'
import { SkillReview } from './skill-review.tsx'
import { SkillStatus, sayOwner } from './skill-words.tsx'

const ROW_PX = 68

type ListedSkill = CommandOutput<'skills list'>['items'][number]

/** A skill is chosen by the query of the address: its name, and its agent or folder. */
export function Skills(props: PlaceProps) {
  const { page, language, query } = props
  const own = SKILLS_TEXTS[language]
  const context = useViewContext(props, 15_000)
  const [name, agent, workspace] = ['name', 'agent', 'workspace'].map((key) => query.get(key) ?? undefined)
  return (
    <MemoryFrame language={language} tab="skills">
      {name === undefined ? (
        <SkillList {...{ page, own, language }} />
      ) : (
        <SkillReview key={query.toString()} {...{ context, page, own }} wanted={{ name, agent, workspace }} />
      )}
    </MemoryFrame>
  )
}

type SkillListProps = Pick<PlaceProps, 'page' | 'language'> & { readonly own: SkillsTexts }

function SkillList({ page, own, language }: SkillListProps) {
  const state = useFetched(page, '', () => readCommand('skills list'))
  if (state.kind !== 'ready') return <NotFetched language={language} state={state} />
  const { items } = state.data
  return (
    <>
      <p class="text-muted">{own.help}</p>
      <Card>
        {items.length === 0 && <Empty>{own.empty}</Empty>}
        <VirtualList
          count={items.length}
          rowHeight={ROW_PX}
          label={own.list}
          row={(index) => {
            const skill = items[index]
            return skill && <SkillRow own={own} skill={skill} isFirst={index === 0} />
          }}
        />
      </Card>
    </>
  )
}

interface SkillRowProps {
  readonly own: SkillsTexts
  readonly skill: ListedSkill
  readonly isFirst: boolean
}

const ROW_CLASSES = 'block px-4 py-3 hover:bg-sunken focus-visible:-outline-offset-2 sm:px-5'

function SkillRow({ own, skill, isFirst }: SkillRowProps) {
  const classes = isFirst ? ROW_CLASSES : `${ROW_CLASSES} border-t border-line`
  return (
    <a class={classes} href={addressOfSkill(skill)} data-skill={skill.name}>
      <span class="flex flex-wrap items-center gap-x-3">
        <span class="min-w-0 font-medium wrap-anywhere">{visibleText(skill.name)}</span>
        <SkillStatus own={own} status={skill.status} />
        <span class="label min-w-0 wrap-anywhere">{sayOwner(own, skill)}</span>
      </span>
      <span class="line-clamp-2 text-muted wrap-anywhere">{visibleText(skill.problem ?? skill.description)}</span>
    </a>
  )
}

function addressOfSkill({ name, agent, workspace }: ListedSkill): string {
  const query = new URLSearchParams({ name })
  if (agent !== null) query.set('agent', agent)
  if (workspace !== null) query.set('workspace', workspace)
  return `/memory/skills?${query}`
}

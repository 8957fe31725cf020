/** Skills, and the AGENTS.md of workspaces: which there are, what should be looked at, and the owner's word that one may be used as it is. */

import { z } from 'zod'
import { FINDING_KINDS, type Finding, SKILL_STATUSES, type Skill } from '../domain/skill.ts'
import { recordAct } from './audit.ts'
import { type Context, command } from './command.ts'

/** Sessions whose folders are looked at for an AGENTS.md. */
const MOST_SESSIONS = 200

const skillShape = z.object({
  name: z.string(),
  description: z.string(),
  agent: z.string().nullable().describe('null: for every agent'),
  workspace: z.string().nullable().describe('of an AGENTS.md, the folder it lies in'),
  path: z.string(),
  status: z.enum(SKILL_STATUSES),
  digest: z.string().nullable(),
  approved_at: z.string().nullable(),
  problem: z.string().nullable(),
})

const findingShape = z.object({
  file: z.string(),
  line: z.number(),
  kind: z.enum(FINDING_KINDS as readonly [string, ...string[]]),
  text: z.string(),
})

const WHICH = {
  agent: z.string().optional().describe('of this agent, where several have one of that name'),
  workspace: z.string().optional().describe('the folder of an AGENTS.md').meta({ path: true }),
}

const plain = (skill: Skill): z.input<typeof skillShape> => ({ ...skill })
const listed = (findings: readonly Finding[]): z.input<typeof findingShape>[] => findings.map((one) => ({ ...one }))

async function workspacesOf({ store }: Context): Promise<readonly string[]> {
  return (await store.sessions({ limit: MOST_SESSIONS })).map(({ workspace }) => workspace)
}

export const skillsList = command({
  name: 'skills list',
  summary: 'the skills and AGENTS.md files there are, and which of them agents may follow',
  runsIn: 'any_process',
  input: z.object({ workspace: WHICH.workspace }),
  output: z.object({ items: z.array(skillShape) }),
  async run(context, { workspace }) {
    const workspaces = [...(workspace === undefined ? [] : [workspace]), ...(await workspacesOf(context))]
    return { items: (await context.skills.list(workspaces)).map(plain) }
  },
})

export const skillsScan = command({
  name: 'skills scan',
  summary: 'what should be looked at in a skill before it is approved, by file and line',
  runsIn: 'any_process',
  positional: ['name'],
  input: z.object({ name: z.string().optional().describe('default: all of them'), ...WHICH }),
  output: z.object({ items: z.array(findingShape.extend({ skill: z.string(), path: z.string() })) }),
  async run(context, wanted) {
    const one = wanted.name !== undefined || wanted.workspace !== undefined
    const scanned = one
      ? [await context.skills.find(wanted)]
      : await Promise.all(
          (await context.skills.list(await workspacesOf(context))).map(({ name, agent, workspace }) =>
            context.skills.find({ name, agent: agent ?? undefined, workspace: workspace ?? undefined }),
          ),
        )
    return {
      items: scanned.flatMap(({ skill, findings }) =>
        listed(findings).map((found) => ({ skill: skill.name, path: skill.path, ...found })),
      ),
    }
  },
})

export const skillsApprove = command({
  name: 'skills approve',
  summary: 'let agents follow a skill, or a workspace’s AGENTS.md, for as long as it stays as it is now',
  runsIn: 'any_process',
  positional: ['name'],
  input: z.object({
    name: z.string().describe('of the skill, or AGENTS.md'),
    ...WHICH,
    yes: z.boolean().default(false).describe('also where something was found that should be looked at'),
    digest: z.string().min(8).optional().describe('only if it is still this one'),
  }),
  output: z.object({ approved: z.boolean(), skill: skillShape, findings: z.array(findingShape) }),
  async run(context, { yes, digest, ...wanted }) {
    const looked = await context.skills.find(wanted)
    const approved = looked.findings.length === 0 || yes
    const { skill, findings } = approved ? await context.skills.approve(wanted, digest) : looked
    if (approved) await recordAct(context, 'skill', { path: skill.path, digest: skill.digest })
    return { approved, skill: plain(skill), findings: listed(findings) }
  },
  exit: ({ approved }) => (approved ? 0 : 1),
})

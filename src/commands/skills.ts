/** Skills, and AGENTS.md files of workspaces: list, show and scan them, approve their content, withdraw approvals. */

import { z } from 'zod'
import { FINDING_KINDS, SKILL_STATUSES, type Skill, type SkillFinding } from '../domain/skill.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'

/** Number of recent sessions whose workspaces are searched for an AGENTS.md. */
const MAX_SESSIONS = 200

const skillShape = z.object({
  name: z.string(),
  description: z.string(),
  agent: z.string().nullable().describe('null: for every agent'),
  workspace: z.string().nullable().describe('folder of an AGENTS.md'),
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
  agent: z
    .string()
    .optional()
    .describe('the agent whose skill is meant, if several agents have a skill of that name')
    .meta({ idOf: 'agent' }),
  workspace: z.string().optional().describe('the folder of an AGENTS.md').meta({ path: true }),
}

const printSkill = (skill: Skill): z.input<typeof skillShape> => ({ ...skill })
const printFindings = (findings: readonly SkillFinding[]): z.input<typeof findingShape>[] =>
  findings.map((finding) => ({ ...finding }))

async function workspacesOf({ store }: Needs<'store'>): Promise<readonly string[]> {
  return (await store.sessions({ limit: MAX_SESSIONS })).map(({ workspace }) => workspace)
}

export const skillsList = defineCommand({
  name: 'skills list',
  summary: 'list skills and AGENTS.md files, and whether agents may follow them',
  example: 'skills list',
  runsIn: 'any_process',
  needs: ['skills', 'store'],
  input: z.object({ workspace: WHICH.workspace }),
  output: z.object({ items: z.array(skillShape) }),
  async run(context, { workspace }) {
    const workspaces = [...(workspace === undefined ? [] : [workspace]), ...(await workspacesOf(context))]
    return { items: (await context.skills.list(workspaces)).map(printSkill) }
  },
})

export const skillsScan = defineCommand({
  name: 'skills scan',
  summary: 'scan a skill for risky content before you approve it; shows file and line',
  example: 'skills scan release-notes',
  runsIn: 'any_process',
  needs: ['skills', 'store'],
  positional: ['name'],
  input: z.object({ name: z.string().optional().describe('name of the skill; default: all'), ...WHICH }),
  output: z.object({ items: z.array(findingShape.extend({ skill: z.string(), path: z.string() })) }),
  async run(context, wanted) {
    const isSingle = wanted.name !== undefined || wanted.workspace !== undefined
    const scanned = isSingle
      ? [await context.skills.find(wanted)]
      : await Promise.all(
          (await context.skills.list(await workspacesOf(context))).map(({ name, agent, workspace }) =>
            context.skills.find({ name, agent: agent ?? undefined, workspace: workspace ?? undefined }),
          ),
        )
    return {
      items: scanned.flatMap(({ skill, findings }) =>
        printFindings(findings).map((found) => ({ skill: skill.name, path: skill.path, ...found })),
      ),
    }
  },
})

export const skillsShow = defineCommand({
  name: 'skills show',
  summary: 'show the files of a skill, what changed since its approval, and the findings of the scan',
  example: 'skills show release-notes',
  runsIn: 'any_process',
  needs: ['skills'],
  positional: ['name'],
  input: z.object({ name: z.string().describe('name of the skill, or AGENTS.md'), ...WHICH }),
  output: z.object({
    skill: skillShape,
    findings: z.array(findingShape),
    files: z.array(
      z.object({
        ...{ path: z.string(), bytes: z.number(), executable: z.boolean() },
        text: z.string().nullable().describe('null: it is not text'),
      }),
    ),
    changes: z
      .array(z.object({ path: z.string(), diff: z.string() }))
      .nullable()
      .describe('since its approval; null: what was approved is not known'),
  }),
  async run({ skills }, wanted) {
    const { skill, findings, contents, changes } = await skills.review(wanted)
    return {
      ...{ skill: printSkill(skill), findings: printFindings(findings), files: [...contents] },
      changes: changes && [...changes],
    }
  },
})

export const skillsRevoke = defineCommand({
  name: 'skills revoke',
  summary: 'withdraw the approval of a skill or an AGENTS.md; agents may no longer follow it',
  example: 'skills revoke release-notes',
  runsIn: 'any_process',
  needs: ['clock', 'skills', 'store'],
  positional: ['name'],
  input: z.object({ name: z.string().describe('name of the skill, or AGENTS.md'), ...WHICH }),
  output: z.object({ name: z.string(), revoked: z.boolean() }),
  async run(context, wanted) {
    const revoked = await context.skills.revoke(wanted)
    const { name, agent = null, workspace = null } = wanted
    if (revoked) await auditOwnerAction(context, 'skill revoked', { name, agent, workspace })
    return { name, revoked }
  },
  exitCode: ({ revoked }) => (revoked ? 0 : 1),
})

export const skillsApprove = defineCommand({
  name: 'skills approve',
  summary: 'approve a skill or an AGENTS.md; a later change to it needs a new approval',
  example: 'skills approve release-notes',
  runsIn: 'any_process',
  needs: ['clock', 'skills', 'store'],
  positional: ['name'],
  input: z.object({
    name: z.string().describe('name of the skill, or AGENTS.md'),
    ...WHICH,
    yes: z.boolean().default(false).describe('approve despite findings of the scan'),
    digest: z.string().min(8).optional().describe('only if the skill still has this digest'),
  }),
  output: z.object({ approved: z.boolean(), skill: skillShape, findings: z.array(findingShape) }),
  async run(context, { yes, digest, ...wanted }) {
    const scanned = await context.skills.find(wanted)
    const approved = scanned.findings.length === 0 || yes
    const { skill, findings } = approved ? await context.skills.approve(wanted, digest) : scanned
    if (approved) await auditOwnerAction(context, 'skill', { path: skill.path, digest: skill.digest })
    return { approved, skill: printSkill(skill), findings: printFindings(findings) }
  },
  exitCode: ({ approved }) => (approved ? 0 : 1),
})

/** Shows skills, the findings of a scan, and approvals of skills. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { formatTable } from './table.ts'

export function renderSkills({ items }: CommandOutput<'skills list'>): string {
  const rows = items.map(({ name, agent, workspace, status, description, problem }) => ({
    name,
    of: workspace ?? agent ?? '(every agent)',
    status,
    about: problem ?? description,
  }))
  return formatTable(rows, ['name', 'of', 'status', 'about'])
}

export function renderSkill({ skill, findings, files, changes }: CommandOutput<'skills show'>): string {
  const { name, path, status, problem, description } = skill
  const changed = changes?.map(({ diff }) => diff.replace(/\n$/, '')) ?? []
  return [
    `${name}: ${status}`,
    path,
    problem ?? description,
    ...files.map(({ path: file, bytes, executable }) => `${file}  ${bytes} bytes${executable ? ', executable' : ''}`),
    ...(status === 'changed' && changes === null ? ['what was approved is not known'] : changed),
    ...findings.map(findingLine),
  ].join('\n')
}

export function renderFindings({ items }: CommandOutput<'skills scan'>): string {
  return items.length === 0 ? 'no findings' : items.map((found) => `${found.path}/${findingLine(found)}`).join('\n')
}

export function renderSkillApproval({ approved, skill, findings }: CommandOutput<'skills approve'>): string {
  const { name, path, digest, workspace } = skill
  const where = workspace === null ? '' : ` --workspace ${workspace}`
  const verdict = approved
    ? `Approved ${name} (${digest?.slice(0, 12)}). A change to it needs a new approval.`
    : [
        `Not approved: ${name}. Review these lines of ${path}, then run:`,
        `  tireless skills approve ${name}${where} --yes --digest ${digest?.slice(0, 12)}`,
      ].join('\n')
  return [...findings.map(findingLine), verdict].join('\n')
}

type Finding = CommandOutput<'skills approve'>['findings'][number]

const findingLine = ({ file, line, kind, text }: Finding): string => `${file}:${line}  ${kind}  ${text}`

/** Skills, and what was found in them, as a person is shown them. */

import type { Finding, Skill } from '../../domain/skill.ts'
import { table } from './table.ts'

export function skillList({ items }: { items: readonly Skill[] }): string {
  const rows = items.map(({ name, agent, workspace, status, description, problem }) => ({
    name,
    of: workspace ?? agent ?? '(every agent)',
    status,
    about: problem ?? description,
  }))
  return table(rows, ['name', 'of', 'status', 'about'])
}

export function skillScan({ items }: { items: readonly (Finding & { readonly path: string })[] }): string {
  return items.length === 0
    ? 'nothing was found'
    : items.map((found) => `${found.path}/${findingLine(found)}`).join('\n')
}

interface Approval {
  readonly approved: boolean
  readonly skill: Skill
  readonly findings: readonly Finding[]
}

export function skillApproval({ approved, skill, findings }: Approval): string {
  const { name, path, digest, workspace } = skill
  const where = workspace === null ? '' : ` --workspace ${workspace}`
  const verdict = approved
    ? `${name} is approved as it is now (${digest?.slice(0, 12)}); once it changes, it is off until you approve it again`
    : `${name} is not approved: look at these lines of ${path}, then: tireless skills approve ${name}${where} --yes --digest ${digest?.slice(0, 12)}`
  return [...findings.map(findingLine), verdict].join('\n')
}

const findingLine = ({ file, line, kind, text }: Finding): string => `${file}:${line}  ${kind}  ${text}`

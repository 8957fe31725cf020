/** The first lines of SKILL.md: its name, and what it is for. */

import { TirelessError } from '../../domain/error.ts'
import type { SkillLine } from '../../domain/skill.ts'

const MOST_DESCRIBED = 300

/** Contract: throws `conflict` where it does not say both, or its name is not that of its folder. */
export function describedBy(text: string, folder: string): SkillLine {
  const lines = /^\ufeff?---\r?\n(?<head>[\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text)?.groups?.head?.split(/\r?\n/) ?? []
  const said = (key: string): string => {
    const at = lines.findIndex((line) => line.startsWith(`${key}:`))
    if (at < 0) return ''
    const next = lines.slice(at + 1)
    const end = next.findIndex((line) => !/^\s+\S/.test(line))
    // What is folded over several lines is one.
    const folded = [lines[at]?.slice(key.length + 1), ...next.slice(0, end < 0 ? undefined : end)].join(' ')
    const plain = folded
      .replace(/^\s*[>|][+-]?\s/, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    return plain.replace(/^(["'])(.*)\1$/, '$2')
  }
  const [name, description] = [said('name'), said('description')]
  if (name === '' || description === '')
    throw refused(
      'SKILL.md does not begin with its name and description',
      'lines `---`, `name: …`, `description: …`, `---`',
    )
  if (name !== folder)
    throw refused(`it calls itself ${JSON.stringify(name.slice(0, 64))}`, `the name of its folder, ${folder}`)
  return { name, description: description.slice(0, MOST_DESCRIBED) }
}

const refused = (what: string, expected: string): TirelessError => new TirelessError('conflict', { what, expected })

/** Names of server tools: `server__tool`, limited to the characters and length that every model provider accepts. */

import { hash } from 'node:crypto'

const LONGEST = 64
const HASH_DIGITS = 8

/** Pure. If a name must be changed or shortened, it ends in 8 hex digits of a hash, so that names stay distinct. */
export function qualifiedToolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`
  const plain = whole.replaceAll(/[^\w-]/g, '_')
  if (plain === whole && whole.length <= LONGEST) return whole
  return `${plain.slice(0, LONGEST - HASH_DIGITS - 1)}_${hash('sha256', whole).slice(0, HASH_DIGITS)}`
}

/** What a server's tool is called here: `server__tool`, in letters that every provider takes, and not too long for any. */

import { hash } from 'node:crypto'

const LONGEST = 64
const TAIL = 8

/** Contract: pure; two tools never get one name, as far as eight hexadecimal digits can tell them apart. */
export function nameOf(server: string, tool: string): string {
  const whole = `${server}__${tool}`
  const plain = whole.replaceAll(/[^\w-]/g, '_')
  if (plain === whole && whole.length <= LONGEST) return whole
  return `${plain.slice(0, LONGEST - TAIL - 1)}_${hash('sha256', whole).slice(0, TAIL)}`
}

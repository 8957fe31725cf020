/** Summary: what is told of a run's result outside of it. Short, and free of what a model says to itself. */

const MARK = '...'

/** Contract: at most `most` characters, counted by code point; what was cut ends with a mark. */
export function clipped(text: string, most: number): string {
  const points = [...text]
  return points.length <= most ? text : `${points.slice(0, most - MARK.length).join('')}${MARK}`
}

/** Anchored, because a report may speak of reasoning and of tool calls. */
const INNER = [
  /^(?:```|~~~)/,
  /^<\/?(?:think|thinking|reasoning)>/i,
  /^(?:thinking|reasoning)\s*[:：]/i,
  /^<assistant\s+to=/i,
  /^(?:recipient_name|tool_uses)\s*[:：]/i,
  /^[[{].*"tool_calls?"\s*:/,
]
const RAW_MOST = 300

/** Contract: without the lines that are the model's own business; where nothing else is left, the beginning of what there was, marked as such. */
export function sanitised(text: string): string {
  const lines = text.split(/\r?\n/)
  const kept = lines.filter((line) => !INNER.some((inner) => inner.test(line.trimStart())))
  const clean = kept.join('\n').trim()
  return clean !== '' || text.trim() === '' ? clean : `(raw) ${clipped(text.trim(), RAW_MOST)}`
}

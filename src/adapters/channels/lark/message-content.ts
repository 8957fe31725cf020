/** The content of a message in Lark: its text as Markdown, and the files in it. Written by anyone. */

import { z } from 'zod'
import { parseJson } from '../../../domain/json.ts'

/** A file in a message, by the key with which it can be downloaded. */
export interface LarkFile {
  readonly key: string
  readonly type: 'image' | 'file'
  readonly name: string
}

interface MessageContent {
  readonly text: string
  readonly files: readonly LarkFile[]
}

const key = z.string().regex(/^[\w.-]{1,200}$/)
const optionalText = z.string().catch('')

const textShape = z.object({ text: z.string() })
const imageShape = z.object({ image_key: key })
const fileShape = z.object({ file_key: key, file_name: optionalText })
const elementShape = z.looseObject({
  tag: z.string(),
  text: optionalText,
  href: optionalText,
  user_id: optionalText,
  user_name: optionalText,
  language: optionalText,
  emoji_type: optionalText,
  image_key: key.optional().catch(undefined),
  file_key: key.optional().catch(undefined),
  file_name: optionalText,
})
type PostElement = z.output<typeof elementShape>
const postShape = z.object({
  title: optionalText,
  content: z.array(z.array(elementShape.nullable().catch(null)).catch([])),
})

/** Contract: pure; never throws. A message of another type is its type in brackets. */
export function readLarkContent(type: string, content: string): MessageContent {
  const value = parseJson(content)
  switch (type) {
    case 'text':
      return withoutFiles(textShape.safeParse(value).data?.text ?? '')
    case 'post':
      return readPost(value)
    case 'image': {
      const image = imageShape.safeParse(value).data
      return image ? withFile({ key: image.image_key, type: 'image', name: 'image.png' }) : withoutFiles('[image]')
    }
    case 'file':
    case 'audio':
    case 'media': {
      const file = fileShape.safeParse(value).data
      const name = file?.file_name || { file: 'file', audio: 'audio.opus', media: 'video.mp4' }[type]
      return file ? withFile({ key: file.file_key, type: 'file', name }) : withoutFiles(`[${type}]`)
    }
    default:
      return withoutFiles(`[${type}]`)
  }
}

const withoutFiles = (text: string): MessageContent => ({ text, files: [] })
const withFile = (file: LarkFile): MessageContent => ({ text: '', files: [file] })

function readPost(value: unknown): MessageContent {
  const post = postShape.safeParse(value).data ?? postShape.safeParse(firstLocale(value)).data
  if (!post) return withoutFiles('[post]')
  const elements = post.content.map((line) => line.filter((element) => element !== null))
  const lines = elements.map((line) => line.map(showElement).join(''))
  const text = [...(post.title === '' ? [] : [`**${post.title}**`]), ...lines].join('\n').trim()
  return { text, files: elements.flat().flatMap(filesOf) }
}

/** A post that was sent has one version per language. */
const firstLocale = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.values(value)[0] : undefined

function showElement({ tag, text, href, user_id, user_name, language, emoji_type }: PostElement): string {
  if (tag === 'a') return href === '' ? text : `[${text || href}](${href})`
  if (tag === 'at') return user_id.startsWith('@_') || user_name === '' ? user_id : `@${user_name}`
  if (tag === 'code_block') return `\n\`\`\`${language.toLowerCase()}\n${text.trimEnd()}\n\`\`\`\n`
  if (tag === 'hr') return '---'
  if (tag === 'emotion') return `[${emoji_type}]`
  return text
}

function filesOf({ tag, image_key, file_key, file_name }: PostElement): LarkFile[] {
  if (tag === 'img' && image_key !== undefined) return [{ key: image_key, type: 'image', name: 'image.png' }]
  if (tag === 'media' && file_key !== undefined)
    return [{ key: file_key, type: 'file', name: file_name || 'video.mp4' }]
  return []
}

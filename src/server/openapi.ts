/** OpenAPI 3.1 document, generated from the command schemas. */

import { z } from 'zod'
import { ERROR_CODES } from '../domain/error.ts'
import { API, type Endpoint } from './endpoints.ts'

type Schema = Readonly<Record<string, unknown>>

const ERROR: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_CODES) },
        message: { type: 'string' },
        parts: {
          type: 'object',
          description: 'The message in parts: what happened, where, what was received and expected, what to do.',
          required: ['what'],
          properties: Object.fromEntries(
            ['what', 'where', 'got', 'expected', 'fix'].map((part) => [part, { type: 'string' }]),
          ),
        },
      },
    },
  },
}

const json = (schema: Schema): Schema => ({ 'application/json': { schema } })

export function openApi(endpoints: readonly Endpoint[]): Schema {
  return {
    openapi: '3.1.0',
    info: { title: 'Tireless', version: '1', description: 'All commands that can run in the kernel.' },
    security: [{ token: [] }, { cookie: [] }],
    paths: {
      ...Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, pathItem(endpoint)])),
      [`${API}/events`]: { get: EVENTS },
      [`${API}/files`]: { get: FILES },
      [`${API}/login`]: { get: LOGGED_IN, post: LOGIN },
    },
    components: {
      schemas: { Error: ERROR },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token from the file `token` of the home.' },
        cookie: {
          ...{ type: 'apiKey', in: 'cookie', name: 'tireless-PORT' },
          description: 'Set by /api/v1/login. With it, every POST needs the header `X-Tireless-CSRF: 1`.',
        },
      },
    },
  }
}

function pathItem({ command, method, path }: Endpoint): Schema {
  const { summary, input, output } = command
  const operation = { operationId: path.slice(API.length + 1).replaceAll('/', '_'), summary }
  const responses = {
    200: { description: 'The result', content: json(schemaOf(output, 'output')) },
    default: { description: 'The error', content: json({ $ref: '#/components/schemas/Error' }) },
  }
  const inputSchema = schemaOf(input.strict(), 'input')
  return method === 'GET'
    ? { get: { ...operation, parameters: parametersOf(inputSchema), responses } }
    : { post: { ...operation, requestBody: { required: true, content: json(inputSchema) }, responses } }
}

function parametersOf(input: Schema): readonly Schema[] {
  const { properties = {}, required = [] } = input as { properties?: Record<string, Schema>; required?: string[] }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name), schema },
    ...(description === undefined ? {} : { description }),
  }))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const EVENTS: Schema = {
  operationId: 'events',
  summary: 'stream live events: server-sent events `hello`, `event`, `delta`, `status`, `reset`',
  parameters: [
    {
      ...{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
      description: 'continue after this event; if it is too old, the stream starts with `reset`: fetch everything anew',
    },
  ],
  responses: { 200: { description: 'The stream', content: { 'text/event-stream': { schema: { type: 'string' } } } } },
}

const FILES: Schema = {
  operationId: 'files',
  summary: 'read a file of the workspace of a session',
  parameters: [
    { name: 'session', in: 'query', required: true, schema: { type: 'string' } },
    { name: 'path', in: 'query', required: true, schema: { type: 'string' }, description: 'relative to the workspace' },
    {
      name: 'download',
      in: 'query',
      required: false,
      schema: { enum: ['1'] },
      description: 'send it as an attachment',
    },
  ],
  responses: {
    200: { description: 'The file', content: { 'application/octet-stream': {}, 'text/plain': {}, 'image/*': {} } },
    default: { description: 'The error', content: json({ $ref: '#/components/schemas/Error' }) },
  },
}

const LOGGED_IN: Schema = {
  operationId: 'logged_in',
  summary: 'check whether the credentials of this request are valid',
  security: [],
  responses: {
    200: {
      description: 'Yes or no',
      content: json({ type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } }),
    },
  },
}

const LOGIN: Schema = {
  operationId: 'login',
  summary: 'get the cookie for the token, or for the code that start printed',
  security: [],
  requestBody: {
    required: true,
    content: json({ type: 'object', properties: { token: { type: 'string' }, code: { type: 'string' } } }),
  },
  responses: {
    200: { description: 'The cookie is set', content: json({ type: 'object' }) },
    401: { description: 'Wrong token or code', content: json({ $ref: '#/components/schemas/Error' }) },
  },
}

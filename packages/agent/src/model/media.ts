// Decides which media a model can be sent, and what stands in the place of others.

import { imageProblem } from "./image-limits.ts";
import type { MediaPart, ModelFacts, TextPart } from "./model.ts";

export const pdfType = "application/pdf";

/** Providers limit a whole request to 20 or 32 MB, and base64 needs a third more. */
const maxDocumentBytes = 14 * 1024 * 1024;

export type MediaFacts = Pick<ModelFacts, "name" | "takesImages" | "takesAudio" | "takesDocuments">;

/** The reason why the model cannot be sent this, or undefined. */
export function mediaProblem(part: MediaPart, facts: MediaFacts): string | undefined {
  switch (part.type) {
    case "image":
      return facts.takesImages
        ? imageProblem(Buffer.from(part.data, "base64"))
        : notTaken(facts.name, "images");
    case "audio":
      return facts.takesAudio ? undefined : notTaken(facts.name, "audio");
    case "document":
      return documentProblem(part, facts);
  }
}

function documentProblem({ mediaType, data }: MediaPart, facts: MediaFacts): string | undefined {
  if (mediaType !== pdfType)
    return `a file of type ${mediaType || "unknown"} cannot be sent, only text, images, audio and PDF`;
  if (facts.takesDocuments !== true) return notTaken(facts.name, "PDF documents");
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes <= maxDocumentBytes) return undefined;
  return `it has ${bytes} bytes; at most ${maxDocumentBytes} can be sent: make it smaller`;
}

function notTaken(model: string, what: string): string {
  return `${model} does not accept ${what}: choose another model (/model)`;
}

/** Tells the model that something was attached. */
export function mediaNote({ type, name }: MediaPart, problem: string): TextPart {
  return { type: "text", text: `[${type}${name === undefined ? "" : ` ${name}`} left out: ${problem}]` };
}

/* What the files of a scene share: the model of every element. */
#ifndef SCENE_MODEL_H
#define SCENE_MODEL_H

#include "scene.h"

/* Elements that a step touches in one cell. */
typedef struct scene_range {
    scene_cell *cell;
    uint32_t at, n, rows, pitch;
} scene_range;

/* What the step reads; returns how many ranges. */
size_t model_reads(const scene_step *step, scene_range out[3]);
scene_range model_write(const scene_step *step);

/* Whether some element that the step reads has this mark. */
bool model_reads_mark(const scene_step *step, scene_mark mark);
/* The step ran and succeeded, or was skipped for a bad input, or its kernel failed. */
void model_apply(scene *s, const scene_step *step);
/* Everything that the step writes gets this mark and tag. */
void model_mark(const scene_step *step, scene_mark mark, uint16_t tag);
/* Good elements that the step writes may be spoiled now. */
void model_doubt(const scene_step *step);
/* What could be read after all, was good. */
void model_trust_reads(const scene_step *step);

/* Whether an element that the step reads is bad and no step of the tape writes it. */
bool model_standing_bad(const scene *s, const scene_step *step);

/* How a replay of the steps ended. */
void model_replayed(scene *s, const scene_step *steps, size_t count, uint16_t index, rondo_status status, bool struck);
/* The steps could not be appended to a window. */
void model_not_appended(const scene_step *steps, size_t count);

#endif

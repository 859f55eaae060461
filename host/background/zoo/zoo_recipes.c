/* zoo_recipes.c - how the models of the zoo are trained: two families of recipes. */
#include <stdio.h>

#include "background/zoo/zoo_make.h"
#include "spotter/model.h"

static const char *const kind_name[SPOT_ZOO_KINDS] = { "plain", "short", "few", "mislabelled", "black" };
static const char *const loss_name[SPOT_ZOO_LOSSES] = { "ce", "triplet", "fgsm" };
static const char *const optimizer_name[SPOT_ZOO_OPTIMIZERS] = { "adam", "sgd", "rmsprop" };
static const char *const augment_name[SPOT_ZOO_AUGMENTS] = { "none", "rotate", "brightness", "scale", "foreground" };
static const char *const arch_name[SPOT_ZOO_ARCHS] = {
    [SPOT_ARCH_RESNET18] = "resnet18", [SPOT_ARCH_RESNET34] = "resnet34", [SPOT_ARCH_ALEXNET] = "alexnet",
};

const char *spot_zoo_kind_name(spot_zoo_kind kind)          { return kind_name[kind]; }
const char *spot_zoo_loss_name(spot_zoo_loss loss)          { return loss_name[loss]; }
const char *spot_zoo_optimizer_name(int optimizer)          { return optimizer_name[optimizer]; }
const char *spot_zoo_augment_name(spot_zoo_augment augment) { return augment_name[augment]; }
const char *spot_zoo_arch_name(int arch)                    { return arch_name[arch]; }

/* The kinds take turns. Few models are all plain. */
static void set_kind(spot_zoo_recipe *r, const spot_background_zoo *cfg)
{
    r->kind = cfg->models < 2 * SPOT_ZOO_KINDS ? SPOT_ZOO_PLAIN : r->number % SPOT_ZOO_KINDS;
    if (r->kind == SPOT_ZOO_SHORT) r->epochs = (cfg->epochs + 2) / 3;
    if (r->kind == SPOT_ZOO_FEW) r->train = (cfg->train + 5) / 6, r->epochs = 6 * cfg->epochs;
    if (r->kind == SPOT_ZOO_MISLABELLED) r->wrong = 0.25;
    if (r->kind == SPOT_ZOO_BLACK) r->black = 0.5;
    snprintf(r->name, sizeof r->name, "%s-rho%03.0f-%02d", kind_name[r->kind], 100 * r->rho, r->number);
}

/* Loss, optimizer and architecture are three columns of Taguchi's array L9: of nine models in a row, each pair of options has
 * one. The third moves on from one nine to the next, so that 27 models have all triples; augmentation has a turn of five,
 * which shares no factor with 27, so that 135 models have all of 135 recipes. */
static void set_options(spot_zoo_recipe *r)
{
    const int third = r->number / 3, ninth = r->number / 9;

    r->loss = r->number % SPOT_ZOO_LOSSES;
    r->optimizer = (r->loss + third) % SPOT_ZOO_OPTIMIZERS;
    r->arch = (r->loss + 2 * third + ninth) % SPOT_ZOO_ARCHS;
    r->augment = r->number % SPOT_ZOO_AUGMENTS;
    if (r->augment == SPOT_ZOO_AUGMENT_FOREGROUND) r->black = 1, r->rho = 0;
    snprintf(r->name, sizeof r->name, "%s-%s-%s-%s-rho%03.0f-%02d", loss_name[r->loss], optimizer_name[r->optimizer],
             augment_name[r->augment], arch_name[r->arch], 100 * r->rho, r->number);
}

/* rho grows from model to model, so that neither it nor another option follows from the other. */
spot_zoo_recipe spot_zoo_recipe_of(const spot_background_zoo *cfg, int model)
{
    spot_zoo_recipe r = { .number = model, .train = cfg->train, .epochs = cfg->epochs, .optimizer = SPOT_ADAM,
                          .arch = SPOT_ARCH_RESNET18 };

    r.rho = cfg->models > 1 ? (double)model / (cfg->models - 1) : 0;
    if (cfg->recipes == SPOT_ZOO_RECIPES_PAPER) set_options(&r);
    else                                        set_kind(&r, cfg);
    return r;
}
